/** The files of deploy/, as an administrator applies them to a cluster that is not ours. */
import { readdirSync, readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import type { KubeClient } from '../../src/kube/client.ts'
import type { KubeObject, ResourceRef } from '../../src/kube/types.ts'
import { eventually } from '../support/eventually.ts'

const root = new URL('../../deploy/', import.meta.url)

const cluster = (group: string, kind: string, plural: string): ResourceRef => ({
  group,
  version: 'v1',
  kind,
  plural,
  namespaced: false,
})

export const customResourceDefinitions = cluster(
  'apiextensions.k8s.io',
  'CustomResourceDefinition',
  'customresourcedefinitions',
)
const kinds: readonly ResourceRef[] = [
  customResourceDefinitions,
  cluster('admissionregistration.k8s.io', 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies'),
  cluster(
    'admissionregistration.k8s.io',
    'ValidatingAdmissionPolicyBinding',
    'validatingadmissionpolicybindings',
  ),
  cluster('rbac.authorization.k8s.io', 'ClusterRole', 'clusterroles'),
]

/** The objects of all files of a folder of deploy/. */
export function objectsIn(folder: 'crds' | 'admission'): KubeObject[] {
  const directory = new URL(`${folder}/`, root)
  return readdirSync(directory)
    .sort()
    .flatMap(name => parseAllDocuments(readFileSync(new URL(name, directory), 'utf8')))
    .map(document => document.toJS() as KubeObject)
}

/** Creates them. Rejects when the server takes one otherwise than it is written (a field that is unknown to it). */
export async function apply(client: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const resource = kinds.find(({ kind }) => kind === object.kind)
    if (!resource) throw new RangeError(`no collection of ${object.kind} is known here`)
    await client.create(resource, object)
  }
}

interface Definition extends KubeObject {
  status?: { conditions?: { type: string; status: string; message?: string }[] }
}

/** Waits until the server serves all of them; a schema that is not structural says so in NonStructuralSchema. */
export async function established(
  client: KubeClient,
  definitions: readonly KubeObject[],
): Promise<Definition[]> {
  const all: Definition[] = []
  for (const { metadata } of definitions)
    all.push(
      await eventually(`${metadata.name} is established`, async () => {
        const found = await client.get<Definition>(customResourceDefinitions, { name: metadata.name })
        const isSo = found.status?.conditions?.some(
          ({ type, status }) => type === 'Established' && status === 'True',
        )
        return isSo && found
      }),
    )
  return all
}

/** All kinds of rollcall.dev, and the admission policies but the one that takes nodes their addresses. */
export async function definitionsAndPolicies(client: KubeClient): Promise<void> {
  const definitions = objectsIn('crds')
  await apply(client, definitions)
  await established(client, definitions)
  const policies = objectsIn('admission').filter(({ metadata }) => !/node-address/.test(metadata.name))
  await apply(client, policies)
}
