/** The manifest of a component as kubeadm writes it: one container, whose command carries its flags. All else stays as it is. */
import { type Document, isScalar, isSeq, parseDocument, type YAMLSeq } from 'yaml'
import { RollcallError } from '../../errors.ts'

/** The files, as they were when a component read them once at its start: another text here is another process. */
const loadsAnnotation = 'rollcall.dev/loads'

export interface Manifest {
  /** The whole command line, as its process shows it. */
  command: readonly string[]
  /** Value of a flag that is given once; undefined: it is not given. Throws CONTROL_PLANE_UNFIT for one given twice. */
  flag(name: string): string | undefined
  /** All values of one that may be given several times. */
  values(name: string): readonly string[]
}

/** Throws RollcallError CONTROL_PLANE_UNFIT. */
export function readManifest(text: string, path: string): Manifest {
  return manifestOf(commandOf(documentOf(text, path), path), path)
}

function manifestOf({ items }: YAMLSeq, path: string): Manifest {
  const command = items.map(item => String(isScalar(item) ? item.value : item))
  const values = (name: string) =>
    command.filter(word => word.startsWith(`--${name}=`)).map(word => word.slice(name.length + 3))
  return {
    command,
    values,
    flag(name) {
      const [value, ...more] = values(name)
      if (more.length > 0 || command.includes(`--${name}`))
        throw unfit(path, `--${name} is given more than once, or its value as a word of its own`)
      return value
    },
  }
}

export interface ManifestChange {
  /** Each is given once. */
  flags: Readonly<Record<string, string>>
  /** Added as they are. */
  words: readonly string[]
  /** Digest of what the component reads once, at its start. */
  loads: string | undefined
}

/** The manifest so changed; what is said in comments and elsewhere in it stays. */
export function withFlags(text: string, path: string, { flags, words, loads }: ManifestChange): string {
  const document = documentOf(text, path)
  const command = commandOf(document, path)
  let changed = false
  for (const [name, value] of Object.entries(flags)) {
    if (manifestOf(command, path).flag(name) === value) continue
    changed = true
    const word = `--${name}=${value}`
    const at = command.items.findIndex(item => isScalar(item) && String(item.value).startsWith(`--${name}=`))
    if (at < 0) command.add(word)
    else command.set(at, word)
  }
  for (const word of words) command.add(word)
  changed ||= words.length > 0
  if (loads !== undefined && document.getIn(['metadata', 'annotations', loadsAnnotation]) !== loads) {
    changed = true
    document.setIn(['metadata', 'annotations', loadsAnnotation], loads)
  }
  return changed ? document.toString({ lineWidth: 0, indentSeq: false, flowCollectionPadding: false }) : text
}

function commandOf(document: Document, path: string): YAMLSeq {
  const containers = document.getIn(['spec', 'containers'])
  const command = document.getIn(['spec', 'containers', 0, 'command'])
  if (!isSeq(containers) || containers.items.length !== 1 || !isSeq(command))
    throw unfit(path, 'it has not one container with a command, as kubeadm writes it')
  // The last word of a flag wins: one that is not seen would go on to be in force.
  if (document.hasIn(['spec', 'containers', 0, 'args']) || !command.items.every(isScalar))
    throw unfit(path, 'its flags are not all words of its command, as kubeadm writes them')
  return command
}

function documentOf(text: string, path: string): Document {
  const document = parseDocument(text)
  if (document.errors.length > 0) throw unfit(path, 'it is no YAML')
  return document
}

function unfit(path: string, why: string): RollcallError {
  return new RollcallError('CONTROL_PLANE_UNFIT', `${path}: ${why}; nothing was changed.`, { path })
}
