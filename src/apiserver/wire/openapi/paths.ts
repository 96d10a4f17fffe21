/**
 * The paths of a resource with their operations. kubectl reads from them which kind a path is of, and from the
 * parameters of PATCH whether the server knows fieldValidation and dryRun.
 */
import type { Resource, StoredResource } from '../../resources/resource.ts'
import { componentName, type GroupVersionKind, reference } from './components.ts'
import { kindComponentName, kindOf } from './kind-component.ts'
import { schemaOf } from './schema.ts'

type Json = Record<string, unknown>

const parameter = (name: string, description: string, type = 'string') => ({
  name,
  in: 'query',
  description,
  schema: { type, uniqueItems: true },
})

const dryRun = parameter(
  'dryRun',
  'When present, indicates that modifications should not be persisted. Valid values are: All.',
)
const writeParameters = [
  dryRun,
  parameter('fieldManager', 'The name of the actor that is making the change, at most 128 characters.'),
  parameter(
    'fieldValidation',
    'What to do with unknown or duplicate fields: Ignore, Warn (the default) or Strict.',
  ),
]
const listParameters = [
  parameter('allowWatchBookmarks', 'Whether a watch may send BOOKMARK events.', 'boolean'),
  parameter('continue', 'Where the last page of a list ended.'),
  parameter('fieldSelector', 'Restricts the objects by their fields.'),
  parameter('labelSelector', 'Restricts the objects by their labels.'),
  parameter('limit', 'The most objects of one page.', 'integer'),
  parameter('resourceVersion', 'Which version of the list is wanted at least, or exactly.'),
  parameter('resourceVersionMatch', 'NotOlderThan or Exact.'),
  parameter('sendInitialEvents', 'Whether a watch begins with the objects that there are.', 'boolean'),
  parameter('timeoutSeconds', 'After how many seconds the call ends.', 'integer'),
  parameter('watch', 'Whether to go on with changes.', 'boolean'),
]
const deleteParameters = [
  dryRun,
  parameter('gracePeriodSeconds', 'Seconds before the object is deleted.', 'integer'),
  parameter('propagationPolicy', 'Orphan, Background or Foreground.'),
]
const pathParameter = (name: string, description: string) => ({
  name,
  in: 'path',
  description,
  required: true,
  schema: { type: 'string', uniqueItems: true },
})

const content = (component: string, mediaTypes = ['application/json']) => ({
  content: Object.fromEntries(mediaTypes.map(type => [type, { schema: reference(component) }])),
})

const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
]

const deleteOptions = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'
const patchComponent = 'io.k8s.apimachinery.pkg.apis.meta.v1.Patch'
const status = 'io.k8s.apimachinery.pkg.apis.meta.v1.Status'

interface Method {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  action: string
  body?: Json
  parameters: readonly Json[]
  answer: string
  code: number
  /** Where it is not the resource's own. */
  kind?: GroupVersionKind
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** `Core`, `Certificates`, `RbacAuthorization`. */
const groupWord = (group: string) =>
  group === ''
    ? 'Core'
    : group
        .replace(/\.k8s\.io$/, '')
        .split('.')
        .map(capital)
        .join('')

/** `scope` is `Namespaced`, `ForAllNamespaces` or empty. */
function operation(
  resource: Resource,
  { method, action, body, parameters, answer, code, kind = kindOf(resource) }: Method,
  scope: string,
  sub = '',
) {
  const group = groupWord(resource.group)
  const version = capital(resource.version)
  const infix = scope === 'Namespaced' ? scope : ''
  const suffix = scope === 'ForAllNamespaces' ? scope : ''
  const verb =
    { list: 'list', get: 'read', post: 'create', put: 'replace', deletecollection: 'deleteCollection' }[
      action
    ] ?? action
  return [
    method,
    {
      tags: [`${group.charAt(0).toLowerCase()}${group.slice(1)}_${resource.version}`],
      operationId: `${verb}${group}${version}${infix}${resource.kind}${capital(sub)}${suffix}`,
      parameters,
      ...(body && { requestBody: body }),
      responses: { [code]: { description: 'OK', ...content(answer) }, 401: { description: 'Unauthorized' } },
      'x-kubernetes-action': action,
      'x-kubernetes-group-version-kind': kind,
    },
  ] as const
}

function createMethod(component: string): Method {
  return {
    method: 'post',
    action: 'post',
    body: { ...content(component, ['*/*']), required: true },
    parameters: writeParameters,
    answer: component,
    code: 201,
  }
}

function updateMethods(
  component: string,
  verbs: readonly string[],
  patches: string[] = patchTypes,
): Method[] {
  const all: Record<string, Method> = {
    get: { method: 'get', action: 'get', parameters: [], answer: component, code: 200 },
    update: {
      method: 'put',
      action: 'put',
      body: { ...content(component, ['*/*']), required: true },
      parameters: writeParameters,
      answer: component,
      code: 200,
    },
    patch: {
      method: 'patch',
      action: 'patch',
      body: { ...content(patchComponent, patches), required: true },
      parameters: writeParameters,
      answer: component,
      code: 200,
    },
    delete: {
      method: 'delete',
      action: 'delete',
      body: content(deleteOptions, ['*/*']),
      parameters: deleteParameters,
      answer: status,
      code: 200,
    },
  }
  return verbs.flatMap(verb => (Object.hasOwn(all, verb) && all[verb] ? [all[verb]] : []))
}

function collectionMethods(component: string, verbs: readonly string[]): Method[] {
  const list: Method = {
    method: 'get',
    action: 'list',
    parameters: listParameters,
    answer: `${component}List`,
    code: 200,
  }
  const deleteAll: Method = {
    method: 'delete',
    action: 'deletecollection',
    body: content(deleteOptions, ['*/*']),
    parameters: [...deleteParameters, ...listParameters],
    answer: status,
    code: 200,
  }
  return [
    ...(verbs.includes('list') ? [list] : []),
    ...(verbs.includes('create') ? [createMethod(component)] : []),
    ...(verbs.includes('deletecollection') ? [deleteAll] : []),
  ]
}

function pathItem(
  resource: Resource,
  methods: readonly Method[],
  parameters: readonly Json[],
  scope: string,
  sub?: string,
): Json {
  return {
    ...Object.fromEntries(methods.map(method => operation(resource, method, scope, sub))),
    ...(parameters.length > 0 && { parameters }),
  }
}

function storedPaths(
  resource: StoredResource,
  prefix: string,
  component: string,
  scope: string,
  own: readonly Json[],
): Json {
  const collection = `${prefix}/${resource.plural}`
  const named = [pathParameter('name', `name of the ${resource.kind}`), ...own]
  const item = `${collection}/{name}`
  // No strategic merge of custom resources.
  const patches = resource.structural ? patchTypes.slice(0, 2) : patchTypes
  return {
    [collection]: pathItem(resource, collectionMethods(component, resource.verbs), own, scope),
    [item]: pathItem(resource, updateMethods(component, resource.verbs, patches), named, scope),
    ...Object.fromEntries(
      Object.entries(resource.subresources).map(([sub, { verbs }]) => [
        `${item}/${sub}`,
        pathItem(resource, updateMethods(component, verbs, patches), named, scope, sub),
      ]),
    ),
    ...Object.fromEntries(
      Object.entries(resource.createdSubresources ?? {}).map(([sub, { kind }]) => {
        const method = { ...createMethod(componentName(schemaOf(kind))), kind }
        return [`${item}/${sub}`, pathItem(resource, [method], named, scope, sub)]
      }),
    ),
  }
}

/** `/api/v1` or `/apis/GROUP/VERSION`. */
export function rootOf({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`
}

/** All paths of the resource. */
export function pathsOf(resource: Resource): Json {
  const component = kindComponentName(resource)
  const root = rootOf(resource)
  const scope = resource.namespaced ? 'Namespaced' : ''
  const own = resource.namespaced ? [pathParameter('namespace', 'object name and auth scope')] : []
  const prefix = resource.namespaced ? `${root}/namespaces/{namespace}` : root
  if (!resource.stored) {
    // Reviews cannot be patched, but kubectl learns from PATCH alone whether fieldValidation is supported. Without it
    // `kubectl create -f` of a review asks for CustomResourceDefinitions and gives up.
    const methods = [createMethod(component), ...updateMethods(component, ['patch'])]
    return { [`${prefix}/${resource.plural}`]: pathItem(resource, methods, own, scope) }
  }
  const everywhere = resource.namespaced && {
    [`${root}/${resource.plural}`]: pathItem(
      resource,
      collectionMethods(component, ['list']),
      [],
      'ForAllNamespaces',
    ),
  }
  return { ...everywhere, ...storedPaths(resource, prefix, component, scope, own) }
}
