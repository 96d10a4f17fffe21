/**
 * Writes src/apiserver/wire/openapi/types.ts: the fields and descriptions of every type that the embedded API serves.
 * Which fields there are and of which type comes from src/kube/protobuf/messages.ts (Kubernetes 1.36), descriptions and
 * which fields are required from the declarations of the package kubernetes-types, merge keys from src/kube/patch.
 *
 *   node scripts/generate-openapi.ts
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { kindsWithMergeKeys, mergeKeysOf } from '../src/kube/patch/merge-keys.ts'
import { messages } from '../src/kube/protobuf/messages.ts'

const target = new URL('../src/apiserver/wire/openapi/types.ts', import.meta.url)
const declarations = new URL('../node_modules/kubernetes-types/', import.meta.url)
const modules = [
  'meta',
  'core',
  'certificates',
  'coordination',
  'authentication',
  'authorization',
  'rbac',
  'storage',
]

/** Types of answers, which no client sends. */
const answers = ['Status', 'StatusDetails', 'StatusCause', 'ListMeta']
/** Types with a JSON form of their own, described by hand in openapi/well-known.ts. */
const wellKnown = ['Time', 'MicroTime', 'Quantity', 'FieldsV1', 'ExtraValue']
const int64 = new Set([
  'ObjectMeta.generation',
  'ObjectMeta.deletionGracePeriodSeconds',
  'DeleteOptions.gracePeriodSeconds',
  'ListMeta.remainingItemCount',
  'TokenRequestSpec.expirationSeconds',
  'ContainerImage.sizeBytes',
  'NodeSwapStatus.capacity',
])

interface FieldFacts {
  type: string
  required: boolean
  description: string
}
interface TypeFacts {
  module: string
  description: string
  fields: Map<string, FieldFacts>
}

const plain = (comment: string | undefined) =>
  (comment ?? '')
    .replace(/^\/\*\*\s?|\s*\*\/$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .trim()

function typeOf(text: string): string {
  const list = /^Array<(.+)>$/.exec(text)?.[1]
  if (list) return `[]${typeOf(list)}`
  const map = /\[name: string\]: (.+?);?\s*\}$/.exec(text)?.[1]
  if (map) return `{}${typeOf(map)}`
  if (text === 'number') return 'int'
  if (text === 'boolean') return 'bool'
  return text === 'string' || text.startsWith('"') ? 'string' : text
}

/** The interfaces of one declaration file. */
function declaredTypes(module: string): [string, TypeFacts][] {
  const source = readFileSync(new URL(`${module}/v1.d.ts`, declarations), 'utf8')
  const types = /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?\nexport interface (\w+) \{([\s\S]*?)\n\}/g
  return [...`\n${source}`.matchAll(types)].map(([, comment, name = '', body = '']) => {
    const fields = new Map<string, FieldFacts>()
    const field =
      /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?\s*(?:readonly )?"?([\w$]+)"?(\??): (\{[\s\S]*?\n? *\}|[^;\n]+);/g
    for (const [, doc, key = '', optional, text = ''] of body.matchAll(field)) {
      fields.set(key, { type: typeOf(text), required: optional === '', description: plain(doc) })
    }
    return [name, { module, description: plain(comment), fields }]
  })
}

const declared = new Map<string, TypeFacts>()
for (const module of modules) {
  for (const [name, facts] of declaredTypes(module)) if (!declared.has(name)) declared.set(name, facts)
}

/** Name, and fields as `name:type`. */
const served: [string, [string, string][]][] = messages
  .trim()
  .replaceAll('\n  ', ' ')
  .split('\n')
  .map(line => {
    const [name = '', ...fields] = line.split(' ')
    return [
      name,
      fields.map(field => {
        const [, key = '', type = ''] = /^(\w+)=\d+:?(.*?)\??$/.exec(field) ?? []
        return [key, /^(\[\]|\{\})?$/.test(type) ? `${type}string` : type]
      }),
    ]
  })
for (const name of answers) {
  served.push([name, [...(declared.get(name)?.fields ?? [])].map(([key, { type }]) => [key, type])])
}

const byName = new Map(served)
const mergeKeys = new Map<string, string>()
for (const kind of [...kindsWithMergeKeys, 'Namespace']) {
  for (const [path, key] of Object.entries(mergeKeysOf(kind))) {
    let type: string | undefined = kind
    const parts = path.split('.')
    const last = parts.pop() ?? ''
    for (const part of parts) {
      type = byName
        .get(type ?? '')
        ?.find(([field]) => field === part)?.[1]
        ?.replace(/^(\[\]|\{\})/, '')
    }
    if (type) mergeKeys.set(`${type}.${last}`, key)
  }
}

/** Types that are newer than the declarations. */
const newer: Readonly<Record<string, [module: string, description: string]>> = {
  NodeSwapStatus: ['core', 'NodeSwapStatus represents swap memory information.'],
  NodeFeatures: ['core', 'NodeFeatures describes the set of features implemented by the CRI implementation.'],
  NodeRuntimeHandler: ['core', 'NodeRuntimeHandler is a set of runtime handler information.'],
  NodeRuntimeHandlerFeatures: [
    'core',
    'NodeRuntimeHandlerFeatures is a set of features implemented by the runtime handler.',
  ],
  FieldSelectorAttributes: ['authorization', 'FieldSelectorAttributes indicates a field limited access.'],
  LabelSelectorAttributes: ['authorization', 'LabelSelectorAttributes indicates a label limited access.'],
  FieldSelectorRequirement: [
    'meta',
    'FieldSelectorRequirement is a selector that contains values, a key, and an operator that relates the key and values.',
  ],
}

function factsOf(name: string): TypeFacts {
  const known = declared.get(name)
  if (known) return known
  const [module, description] = newer[name] ?? []
  if (!module || !description)
    throw new Error(`no declaration of ${name}: describe it in the table of newer types`)
  return { module, description, fields: new Map() }
}

const oneLine = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')

function fieldLine(typeName: string, key: string, type: string): string {
  const known = declared.get(typeName)?.fields.get(key)
  const width = type.endsWith('int') && int64.has(`${typeName}.${key}`) ? `${type}64` : type
  const merge = mergeKeys.get(`${typeName}.${key}`)
  const mark = merge === undefined ? '' : `~${merge}`
  return `${key}${known?.required ? '*' : ''} ${width}${mark} ${oneLine(known?.description ?? '')}`.trimEnd()
}

const lines = served
  .filter(([name]) => !wellKnown.includes(name))
  .flatMap(([name, fields]) => {
    const facts = factsOf(name)
    const typeMeta =
      facts.fields.has('kind') &&
      facts.fields.has('apiVersion') &&
      !byName.get(name)?.some(([key]) => key === 'kind')
    const all = typeMeta
      ? [['apiVersion', 'string'] as const, ['kind', 'string'] as const, ...fields]
      : fields
    return [
      `# ${facts.module} ${name} ${oneLine(facts.description)}`,
      ...all.map(([key, type]) => fieldLine(name, key, type)).sort(),
    ]
  })

const literal = lines.join('\n').replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')
writeFileSync(
  target,
  `/**
 * Generated by scripts/generate-openapi.ts; do not edit. One type after the other: \`# PACKAGE TYPE description\`, then a
 * line a field: \`name type description\`. \`*\` after the name: required. \`[]\` before a type is a list, \`{}\` a map from
 * strings; \`~key\` after it: a strategic merge patch merges the list by that key (\`~\` alone: as a set).
 */
export const types = \`
${literal}
\`
`,
)
