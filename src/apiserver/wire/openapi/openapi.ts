/** OpenAPI: v3 with a root that names a document for each group and version, and v2 in one. */
import type { Resource } from '../../resources/resource.ts'
import { jsonDocument, type ServedDocument } from '../document.ts'
import {
  collectComponents,
  componentName,
  componentSchema,
  type GroupVersionKind,
  listSchema,
} from './components.ts'
import { collectKind, kindComponentName, kindOf } from './kind-component.ts'
import { pathsOf, rootOf } from './paths.ts'
import { schemaOf } from './schema.ts'
import { openApiV2 } from './v2.ts'

type Json = Record<string, unknown>

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1'

function componentsOf(resources: readonly Resource[]): Json {
  const components = new Map<string, Json>()
  for (const type of ['DeleteOptions', 'Status', 'ListMeta']) collectComponents(type, components)
  components.set(`${meta}.Patch`, {
    description: 'Patch is provided to give a concrete name and type to the Kubernetes PATCH request body.',
    type: 'object',
  })
  for (const resource of resources) {
    collectKind(resource, components)
    if (!resource.stored) continue
    const name = kindComponentName(resource)
    components.set(`${name}List`, listSchema(name, kindOf(resource)))
    for (const { kind } of Object.values(resource.createdSubresources ?? {})) addKind(kind, components)
  }
  return Object.fromEntries([...components].sort(([left], [right]) => (left < right ? -1 : 1)))
}

function addKind(kind: GroupVersionKind, components: Map<string, Json>): void {
  collectComponents(kind.kind, components)
  const schema = schemaOf(kind)
  components.set(componentName(schema), componentSchema(schema, [kind]))
}

function documentOf(resources: readonly Resource[]): ServedDocument {
  const paths = Object.assign({}, ...resources.map(pathsOf)) as Json
  return jsonDocument({
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1.36.0' },
    paths: Object.fromEntries(Object.entries(paths).sort(([left], [right]) => (left < right ? -1 : 1))),
    components: { schemas: componentsOf(resources) },
  })
}

/** Documents of `/openapi/v3`, the paths below it, and `/openapi/v2`; undefined for a path that is none of them. */
export type OpenApi = (path: string) => ServedDocument | undefined

/** Documents are made when one is first asked for: most servers never are. */
export function openApiV3(resources: readonly Resource[]): OpenApi {
  const byRoot = new Map<string, Resource[]>()
  for (const resource of resources) {
    const root = rootOf(resource)
    byRoot.set(root, [...(byRoot.get(root) ?? []), resource])
  }
  const made = new Map<string, ServedDocument>()
  const remember = (path: string, make: () => ServedDocument) => {
    const document = made.get(path) ?? make()
    made.set(path, document)
    return document
  }
  const group = (root: string, own: readonly Resource[]) =>
    remember(`/openapi/v3${root}`, () => documentOf(own))
  const index = () => {
    const paths = [...byRoot].map(([root, own]) => [
      root.slice(1),
      { serverRelativeURL: `/openapi/v3${root}?hash=${group(root, own).hash}` },
    ])
    return jsonDocument({ paths: Object.fromEntries(paths) })
  }
  return path => {
    const plain = path.replace(/\/+$/, '')
    if (plain === '/openapi/v3') return remember(plain, index)
    if (plain === '/openapi/v2') return remember(plain, () => openApiV2(resources))
    const root = plain.slice('/openapi/v3'.length)
    const own = plain.startsWith('/openapi/v3/') ? byRoot.get(root) : undefined
    return own && group(root, own)
  }
}
