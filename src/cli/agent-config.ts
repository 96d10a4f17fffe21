import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, type Option } from 'commander'
import { isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml'
import { RollcallError, systemCode } from '../errors.ts'

/** What every configuration of Kubernetes begins with. */
const heading: Readonly<Record<string, string>> = {
  apiVersion: 'rollcall.dev/v1alpha1',
  kind: 'AgentConfiguration',
}

/**
 * Lays a configuration file below the flags of a command: its fields are the long flags in camelCase, a flag that is given
 * wins. A list stands for a flag that is given several times, or for values with commas. Throws CONFIG_INVALID with line
 * and column.
 */
export function applyConfig(command: Command, path: string): void {
  const lines = new LineCounter()
  const document = parseDocument(read(path), { lineCounter: lines, prettyErrors: false })
  const errorAt = (offset: number, why: string) => {
    const { line, col } = lines.linePos(offset)
    return new RollcallError('CONFIG_INVALID', `${path}:${line}:${col}: ${why}`)
  }
  const [broken] = document.errors
  if (broken) throw errorAt(broken.pos[0], broken.message)
  const { contents } = document
  if (contents === null) return
  if (!isMap(contents)) throw errorAt(0, 'is not a mapping of settings')
  for (const { key, value } of contents.items) {
    const at = isNode(key) ? (key.range?.[0] ?? 0) : 0
    try {
      apply(command, isScalar(key) ? String(key.value) : '', isNode(value) ? value.toJS(document) : value)
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error
      throw errorAt(at, error.message)
    }
  }
}

/** One setting. Throws InvalidArgumentError. */
function apply(command: Command, name: string, value: unknown): void {
  if (name in heading) {
    if (value !== heading[name]) throw new InvalidArgumentError(`${name} is not ${heading[name]}`)
    return
  }
  const option = command.options.find(option => option.attributeName() === name && name !== 'config')
  if (!option)
    throw new InvalidArgumentError(`there is no setting ${JSON.stringify(name)}${nearest(name, command)}`)
  if (command.getOptionValueSource(name) === 'cli') return
  try {
    command.setOptionValueWithSource(name, settingOf(option, value), 'config')
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw new InvalidArgumentError(`${name}: ${error.message}`)
    throw error
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new RollcallError('CONFIG_INVALID', `${path} cannot be read: ${systemCode(error) ?? String(error)}`)
  }
}

/** As the flag itself would be read. */
function settingOf(option: Option, value: unknown): unknown {
  if (option.isBoolean()) {
    if (typeof value === 'boolean') return value
    throw new InvalidArgumentError('is not true or false')
  }
  const texts = (Array.isArray(value) ? value : [value]).map(text => {
    if (typeof text === 'string' && text !== '') return text
    if (typeof text === 'number') return String(text)
    throw new InvalidArgumentError('is no text')
  })
  const repeats = Array.isArray(option.defaultValue)
  if (!repeats && texts.length > 1 && !/,…/.test(option.flags))
    throw new InvalidArgumentError('is one value, no list')
  const [joined] = repeats ? [] : [texts.join(',')]
  if (joined === undefined) return texts.reduce<unknown>((before, text) => parsed(option, text, before), [])
  return parsed(option, joined, option.defaultValue)
}

function parsed(option: Option, text: string, before: unknown): unknown {
  const { argChoices, parseArg } = option
  if (argChoices && !argChoices.includes(text))
    throw new InvalidArgumentError(`is none of ${argChoices.join(', ')}`)
  return parseArg && !argChoices ? parseArg(text, before) : text
}

function nearest(name: string, command: Command): string {
  const names = command.options.map(option => option.attributeName())
  const same = names.find(known => known.toLowerCase() === name.toLowerCase().replaceAll(/[-_]/g, ''))
  return same
    ? `; it is written ${same}`
    : '; its settings are the flags of rollcall agent --help in camelCase'
}
