/**
 * Writes src/apiserver/wire/openapi/types: the fields and descriptions of every type that the embedded API serves. Which fields there are and of which type comes from src/kube/protobuf (Kubernetes 1.36),
 * descriptions and which fields are required from the declarations of the package kubernetes-types, merge keys from
 * src/kube/patch. CustomResourceDefinitions, which nobody sends, are described by the declarations alone. Of Pods only the first sentence of each description is kept: they are here to be looked at.
 *
 *   node scripts/generate-openapi.ts
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { kindsWithMergeKeys, mergeKeysOf } from '../src/kube/patch/merge-keys.ts'
import { clusterMessages } from '../src/kube/protobuf/cluster-messages.ts'
import { messages } from '../src/kube/protobuf/messages.ts'
import { workloadMessages } from '../src/kube/protobuf/workload-messages.ts'

const declarations = new URL('../node_modules/kubernetes-types/', import.meta.url)
/** Packages, and where the declarations lie that describe them; the first that has a type of a name is meant by it. */
const modules: readonly [module: string, file: string][] = [
  ...['meta', 'core', 'certificates', 'coordination', 'authentication', 'authorization', 'rbac', 'storage'],
  ...['discovery', 'node', 'apiextensions'],
].map(module => [module, `${module}/v1`])
modules.push(['certificates.v1beta1', 'certificates/v1alpha1'])

/** Types that two packages have under one name: what the tables call the second. */
const renamed: Readonly<Record<string, string>> = {
  StorageTokenRequest: 'storage.TokenRequest',
  DiscoveryEndpointPort: 'discovery.EndpointPort',
}

/** Types of answers, which no client sends. */
const answers = ['Status', 'StatusDetails', 'StatusCause', 'ListMeta']
/** The kind that is read only, with all that it is made of. */
const readOnly = 'CustomResourceDefinition'
/** Fields of a schema that the declarations lack, and those whose numbers are not int32. */
const schemaFields: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['maximum', 'minimum', 'multipleOf'].map(name => [name, 'double'])),
  'x-kubernetes-embedded-resource': 'bool',
  'x-kubernetes-int-or-string': 'bool',
  'x-kubernetes-list-map-keys': '[]string',
  'x-kubernetes-list-type': 'string',
  'x-kubernetes-map-type': 'string',
  'x-kubernetes-preserve-unknown-fields': 'bool',
  'x-kubernetes-validations': '[]ValidationRule',
}
/** Types with a JSON form of their own, described by hand in openapi/well-known.ts. */
const wellKnown = ['Time', 'MicroTime', 'Quantity', 'FieldsV1', 'ExtraValue', 'IntOrString', 'JSON']
wellKnown.push('JSONSchemaPropsOrArray', 'JSONSchemaPropsOrBool', 'JSONSchemaPropsOrStringArray')
/** Fields that are int64; all other numbers are int32. */
const int64 = new Set(
  (
    'generation observedGeneration gracePeriodSeconds deletionGracePeriodSeconds terminationGracePeriodSeconds ' +
    'activeDeadlineSeconds remainingItemCount sizeBytes capacity seconds tolerationSeconds runAsUser runAsGroup fsGroup ' +
    'supplementalGroups uid gid TokenRequestSpec.expirationSeconds ServiceAccountTokenProjection.expirationSeconds ' +
    'StorageTokenRequest.expirationSeconds nodeAllocatableUpdatePeriodSeconds resourceSliceCount DeviceAttribute.int ' +
    'maxItems maxLength maxProperties minItems minLength minProperties'
  ).split(' '),
)

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
function declaredTypes(module: string, file: string): [string, TypeFacts][] {
  const source = readFileSync(new URL(`${file}.d.ts`, declarations), 'utf8')
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
for (const [module, file] of modules) {
  for (const [name, facts] of declaredTypes(module, file)) {
    declared.set(`${module}.${name}`, facts)
    if (!declared.has(name)) declared.set(name, facts)
  }
}
const declarationOf = (name: string) => declared.get(renamed[name] ?? name)

type Fields = [name: string, type: string][]

function parseMessages(table: string): [string, Fields][] {
  return table
    .trim()
    .replaceAll('\n  ', ' ')
    .split('\n')
    .map(line => {
      const [name = '', ...fields] = line.split(' ')
      return [
        name,
        fields.map(field => {
          const [, key = '', type = ''] = /^(\^?\w+)=\d+:?(.*?)\??$/.exec(field) ?? []
          return [key, /^(\[\]|\{\})?$/.test(type) ? `${type}string` : type]
        }),
      ]
    })
}

const elementOf = (type: string) => type.replace(/^(\[\]|\{\})/, '')

/** What a kind is made of, as far as `table` has it. */
function messagesOf(kind: string, table: string): [string, Fields][] {
  const all = new Map(parseMessages(table))
  const flat = (fields: Fields): Fields =>
    fields.flatMap(([key, type]) =>
      key.startsWith('^') ? flat(all.get(type) ?? [['name', 'string']]) : [[key, type]],
    )
  const found = new Map<string, Fields>()
  const visit = (name: string) => {
    const fields = all.get(name)
    if (!fields || found.has(name)) return
    found.set(name, flat(fields))
    for (const [, type] of flat(fields)) visit(elementOf(type))
  }
  visit(kind)
  return [...found]
}

const pods = messagesOf('Pod', workloadMessages)
const podTypes = new Set(pods.map(([name]) => name))
const services = messagesOf('Service', workloadMessages).filter(([name]) => !podTypes.has(name))
const served = [...parseMessages(messages), ...services, ...parseMessages(clusterMessages), ...pods]
const declaredFields = (name: string): Fields =>
  [...(declarationOf(name)?.fields ?? [])].map(([key, { type }]) => [key, type])
for (const name of answers) served.push([name, declaredFields(name)])
served.push(...definitionMessages())

/** The read-only kind and the types below it that no other kind has. */
function definitionMessages(): [string, Fields][] {
  const known = new Set([...served.map(([name]) => name), ...wellKnown])
  const found = new Map<string, Fields>()
  const visit = (name: string) => {
    if (known.has(name) || found.has(name) || !declarationOf(name)) return
    const fields = new Map(declaredFields(name))
    if (name === 'JSONSchemaProps')
      for (const [key, type] of Object.entries(schemaFields)) fields.set(key, type)
    found.set(name, [...fields])
    for (const type of fields.values()) visit(elementOf(type))
  }
  visit(readOnly)
  return [...found]
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
  ForNode: ['discovery', 'ForNode provides information about which nodes should consume this endpoint.'],
  ResourceSlice: [
    'resource',
    'ResourceSlice represents one or more resources in a pool of similar resources, managed by a common driver.',
  ],
  ResourceSliceSpec: ['resource', 'What a driver publishes in one ResourceSlice.'],
  ResourcePool: ['resource', 'The pool that a ResourceSlice belongs to.'],
  Device: ['resource', 'One hardware instance that can be selected by its attributes.'],
  DeviceAttribute: ['resource', 'An attribute of a device: exactly one of its fields is set.'],
  DeviceCapacity: ['resource', 'A quantity that a device has.'],
  CapacityRequestPolicy: ['resource', 'How requests consume a capacity of a device.'],
  CapacityRequestPolicyRange: ['resource', 'The range of quantities that a request may consume.'],
  DeviceCounterConsumption: ['resource', 'The counters of a set that a device consumes.'],
  CounterSet: ['resource', 'A named set of counters that devices of a pool share.'],
  Counter: ['resource', 'A quantity that a device consumes a part of.'],
  DeviceTaint: ['resource', 'A taint keeps claims that do not tolerate it from a device.'],
}

/** Required fields of types that are newer than the declarations. */
const requiredOfNewer = new Set(
  (
    'ResourceSlice.spec ResourceSliceSpec.driver ResourceSliceSpec.pool ResourcePool.name ResourcePool.generation ' +
    'ResourcePool.resourceSliceCount Device.name DeviceCapacity.value DeviceCounterConsumption.counterSet ' +
    'DeviceCounterConsumption.counters CounterSet.name CounterSet.counters Counter.value DeviceTaint.key DeviceTaint.effect ' +
    'CapacityRequestPolicyRange.min ForNode.name'
  ).split(' '),
)
/** Objects among them. */
const newerObjects = new Set(['ResourceSlice'])

function factsOf(name: string): TypeFacts {
  const known = declarationOf(name)
  if (known) return known
  const [module, description] =
    newer[name] ?? (podTypes.has(name) ? ['core', `${name} is a part of a Pod.`] : [])
  if (!module || !description)
    throw new Error(`no declaration of ${name}: describe it in the table of newer types`)
  return { module, description, fields: new Map() }
}

const oneLine = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')

const described = (typeName: string, text: string) =>
  podTypes.has(typeName) ? (/^[\s\S]*?\.(?=\s|$)/.exec(text)?.[0] ?? text) : text

function fieldLine(typeName: string, key: string, type: string): string {
  const known = declarationOf(typeName)?.fields.get(key)
  const wide = type.endsWith('int') && (int64.has(key) || int64.has(`${typeName}.${key}`))
  const width = wide ? `${type}64` : type
  const merge = mergeKeys.get(`${typeName}.${key}`)
  const mark = merge === undefined ? '' : `~${merge}`
  const required = known?.required || requiredOfNewer.has(`${typeName}.${key}`)
  return `${key}${required ? '*' : ''} ${width}${mark} ${oneLine(described(typeName, known?.description ?? ''))}`.trimEnd()
}

function typeLines([name, fields]: [string, Fields]): string[] {
  const facts = factsOf(name)
  const isObject = newerObjects.has(name) || (facts.fields.has('kind') && facts.fields.has('apiVersion'))
  const ownName = renamed[name]?.split('.').pop()
  const typeMeta: Fields =
    isObject && !fields.some(([key]) => key === 'kind')
      ? [
          ['apiVersion', 'string'],
          ['kind', 'string'],
        ]
      : []
  return [
    `# ${facts.module} ${name}${ownName ? `=${ownName}` : ''} ${oneLine(described(name, facts.description))}`,
    ...[...typeMeta, ...fields].map(([key, type]) => fieldLine(name, key, type)).sort(),
  ]
}

const tables = new URL('../src/apiserver/wire/openapi/types/', import.meta.url)

const variable = (name: string) => name.replace(/-(.)/g, (_dash, letter: string) => letter.toUpperCase())

function write(name: string, of: readonly [string, Fields][]): void {
  const lines = of.filter(([name]) => !wellKnown.includes(name)).flatMap(typeLines)
  const literal = lines.join('\n').replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')
  const head =
    '/** Generated by scripts/generate-openapi.ts, in the form that index.ts explains; do not edit. */'
  writeFileSync(
    new URL(`${name}.ts`, tables),
    `${head}\nexport const ${variable(name)} = \`\n${literal}\n\`\n`,
  )
}

/** The first type of each part that the many types of a Pod are divided into. */
const partsOfPods: Readonly<Record<string, string>> = {
  Pod: 'pod',
  Volume: 'pod-volumes',
  Container: 'pod-containers',
  PodSecurityContext: 'pod-placement',
  PodStatus: 'pod-status',
}
const partOf = new Map<string, string>()
let part = ''
for (const [name] of pods) {
  part = partsOfPods[name] ?? part
  partOf.set(name, part)
}
const packageOf = (name: string) => partOf.get(name) ?? factsOf(name).module.split('.')[0] ?? ''

const byTable = Map.groupBy(
  served.filter(([name]) => !wellKnown.includes(name)),
  ([name]) => packageOf(name),
)
mkdirSync(tables, { recursive: true })
for (const [name, of] of byTable) write(name, of)
const names = [...byTable.keys()].sort()
writeFileSync(
  new URL('index.ts', tables),
  `${names.map(name => `import { ${variable(name)} } from './${name}.ts'\n`).join('')}
/**
 * Generated by scripts/generate-openapi.ts; do not edit. A table for each of Kubernetes' packages, and for the parts of a Pod.
 * One type after the other: \`# PACKAGE TYPE description\`, then a line a field: \`name type description\`. \`=NAME\` after the
 * type: its own name, where two packages share one. \`*\` after the name: required. \`[]\` before a type is a list, \`{}\` a map
 * from strings; \`~key\` after it: a strategic merge patch merges the list by that key (\`~\` alone: as a set).
 */
export const tables: readonly string[] = [
${names.map(name => `  ${variable(name)},\n`).join('')}]
`,
)
