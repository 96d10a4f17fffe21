/** Label selectors: `a=b, c in (d,e), !f`, with Kubernetes' grammar and its texts for what does not parse. */
import { RollcallError } from '../errors.ts'
import { labelValueComplaints, qualifiedNameComplaints } from './label-syntax.ts'

export interface LabelRequirement {
  key: string
  operator: 'exists' | '!' | 'in' | 'notin' | 'gt' | 'lt'
  values: readonly string[]
}

export type LabelSelector = readonly LabelRequirement[]

interface Token {
  kind: 'word' | '=' | '==' | '!=' | '!' | '(' | ')' | ',' | '>' | '<' | 'in' | 'notin' | 'end'
  literal: string
}

const symbols = ['==', '!=', '=', '!', '(', ')', ',', '>', '<'] as const

const invalid = (message: string) => new RollcallError('SELECTOR_INVALID', message)

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    if (/\s/.test(text.charAt(at))) {
      at++
      continue
    }
    const symbol = symbols.find(candidate => text.startsWith(candidate, at))
    if (symbol) {
      tokens.push({ kind: symbol, literal: symbol })
      at += symbol.length
      continue
    }
    const word = /^[^\s=!(),><]+/.exec(text.slice(at))?.[0] ?? ''
    tokens.push({ kind: word === 'in' || word === 'notin' ? word : 'word', literal: word })
    at += word.length
  }
  tokens.push({ kind: 'end', literal: '' })
  return tokens
}

/** Reads tokens one by one; where a value is expected `in` and `notin` are ordinary words. */
class TokenReader {
  readonly #tokens: readonly Token[]
  #next = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  peek(operatorExpected = false): Token {
    const token = this.#tokens[this.#next] ?? { kind: 'end', literal: '' }
    return !operatorExpected && (token.kind === 'in' || token.kind === 'notin')
      ? { kind: 'word', literal: token.literal }
      : token
  }

  take(operatorExpected = false): Token {
    const token = this.peek(operatorExpected)
    this.#next++
    return token
  }
}

function readValueList(reader: TokenReader): string[] {
  const open = reader.take()
  if (open.kind !== '(') throw invalid(`found '${open.literal}' expected: '('`)
  if (reader.peek().kind === ')') {
    reader.take()
    return []
  }
  const values = new Set<string>()
  // `(a,,b)`, `(,a)` and `(a,)` all hold an empty value, as in Kubernetes.
  for (;;) {
    const token = reader.peek()
    if (token.kind === 'word') {
      values.add(reader.take().literal)
      const after = reader.peek()
      if (after.kind !== ',' && after.kind !== ')') {
        throw invalid(`found '${after.literal}', expected: ',' or ')'`)
      }
    } else if (token.kind === ',' || token.kind === ')') {
      values.add('')
    } else {
      throw invalid(`found '${token.literal}', expected: ',', ')' or identifier`)
    }
    if (reader.take().kind === ')') return [...values].sort()
  }
}

function readExactValue(reader: TokenReader): string[] {
  const next = reader.peek()
  if (next.kind === 'end' || next.kind === ',') return ['']
  if (next.kind !== 'word') throw invalid(`found '${next.literal}', expected: identifier`)
  return [reader.take().literal]
}

const operators: Partial<Record<Token['kind'], LabelRequirement['operator']>> = {
  in: 'in',
  notin: 'notin',
  '=': 'in',
  '==': 'in',
  '!=': 'notin',
  '>': 'gt',
  '<': 'lt',
}

function checkValues(key: string, operator: LabelRequirement['operator'], values: readonly string[]): void {
  if ((operator === 'in' || operator === 'notin') && values.length === 0) {
    throw invalid("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty")
  }
  values.forEach((value, index) => {
    if ((operator === 'gt' || operator === 'lt') && !/^[+-]?\d+$/.test(value)) {
      throw invalid(
        `values[${index}]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
      )
    }
    const complaints = labelValueComplaints(value)
    if (complaints.length > 0) {
      throw invalid(
        `values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${complaints.join('; ')}`,
      )
    }
  })
}

function readRequirement(reader: TokenReader): LabelRequirement {
  let token = reader.take()
  const negated = token.kind === '!'
  if (negated) token = reader.take()
  if (token.kind !== 'word') throw invalid(`found '${token.literal}', expected: identifier`)
  const key = token.literal
  const complaints = qualifiedNameComplaints(key)
  if (complaints.length > 0) {
    throw invalid(`<nil>: Invalid value: ${JSON.stringify(key)}: ${complaints.join('; ')}`)
  }
  const next = reader.peek()
  if (next.kind === 'end' || next.kind === ',') {
    return { key, operator: negated ? '!' : 'exists', values: [] }
  }
  if (negated) return { key, operator: '!', values: [] }
  const word = reader.take(true)
  const operator = operators[word.kind]
  if (!operator) throw invalid(`found '${word.literal}', expected: in, notin, =, ==, !=, gt, lt`)
  const values = word.kind === 'in' || word.kind === 'notin' ? readValueList(reader) : readExactValue(reader)
  checkValues(key, operator, values)
  return { key, operator, values }
}

/** Throws RollcallError SELECTOR_INVALID with the text that Kubernetes answers (400). An empty text selects all. */
export function parseLabelSelector(text: string): LabelSelector {
  const reader = new TokenReader(tokensOf(text))
  const requirements: LabelRequirement[] = []
  const first = reader.peek()
  if (first.kind === 'end') return requirements
  if (first.kind !== 'word' && first.kind !== '!') {
    throw invalid(`found '${first.literal}', expected: !, identifier, or 'end of string'`)
  }
  for (;;) {
    try {
      requirements.push(readRequirement(reader))
    } catch (error) {
      throw error instanceof RollcallError ? invalid(`unable to parse requirement: ${error.message}`) : error
    }
    const separator = reader.take()
    if (separator.kind === 'end') return requirements
    if (separator.kind !== ',')
      throw invalid(`found '${separator.literal}', expected: ',' or 'end of string'`)
    const next = reader.peek()
    if (next.kind !== 'word' && next.kind !== '!') {
      throw invalid(`found '${next.literal}', expected: identifier after ','`)
    }
  }
}

function meets(requirement: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined
  switch (requirement.operator) {
    case 'exists':
      return value !== undefined
    case '!':
      return value === undefined
    case 'in':
      return value !== undefined && requirement.values.includes(value)
    case 'notin':
      // An object without the label matches `!=` and `notin`.
      return value === undefined || !requirement.values.includes(value)
    case 'gt':
    case 'lt': {
      if (value === undefined || !/^[+-]?\d+$/.test(value)) return false
      const bound = BigInt((requirement.values[0] ?? '0').replace(/^\+/, ''))
      const number = BigInt(value.replace(/^\+/, ''))
      return requirement.operator === 'gt' ? number > bound : number < bound
    }
  }
}

/** Whether all requirements hold for the labels; absent labels are an empty map. */
export function matchesLabels(
  selector: LabelSelector,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return selector.every(requirement => meets(requirement, labels ?? {}))
}
