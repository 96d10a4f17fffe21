import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The test files, relative to the repository, with a test whose name begins with `report N`, by that number. */
export function numberedTests(): Map<number, string[]> {
  const found = new Map<number, string[]>()
  for (const file of globSync('{src,test}/**/*.test.ts', { cwd: root }).sort()) {
    const text = readFileSync(`${root}/${file}`, 'utf8')
    // Rules of Kubernetes and ids of diagnoses may stand before it.
    for (const [names] of text.matchAll(/(?<=['"`])(?:(?:[A-Z]-?\d+b?|report \d+)(?:, |: ))+/g))
      for (const [, number] of names.matchAll(/report (\d+)/g)) {
        const files = found.get(Number(number)) ?? []
        if (!files.includes(file)) found.set(Number(number), [...files, file])
      }
  }
  return found
}
