import { DatabaseSync } from 'node:sqlite'
import type { KubeObject } from '../src/kube/types.ts'

/** Makes the `index`th object. */
export type Make = (index: number) => KubeObject & Record<string, unknown>

/** Writes straight into the database of a server that does not run: by prefix of the key, how many, and what. */
export function fillDatabase(path: string, objects: Record<string, { count: number; make: Make }>): void {
  const database = new DatabaseSync(path)
  let revision = Number(database.prepare('SELECT revision FROM last').get()?.revision)
  const put = database.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, NULL)')
  database.exec('BEGIN')
  for (const [prefix, { count, make }] of Object.entries(objects))
    for (let index = 0; index < count; index += 1) {
      const object = make(index)
      revision += 1
      put.run(`${prefix}${object.metadata.name}`, Buffer.from(JSON.stringify(object)), revision, revision)
    }
  database.prepare('UPDATE last SET revision = ?').run(revision)
  database.exec('COMMIT')
  database.close()
}

export const csrPrefix = 'registry/certificates.k8s.io/certificatesigningrequests/'
export const nodePrefix = 'registry/core/nodes/'
