/** The files of one simulated machine at this moment: nodes and names, without time or durability (disk.ts adds them). */

export interface FileNode {
  kind: 'file'
  mode: number
  modified: number
  data: Uint8Array
  /** What a crash gives back at worst; absent: not one byte was synced yet. */
  durable: Uint8Array | undefined
}
export interface LinkNode {
  kind: 'symlink'
  mode: number
  modified: number
  target: string
}
export interface DirectoryNode {
  kind: 'directory'
  mode: number
  modified: number
  entries: Map<string, TreeNode>
}
export type TreeNode = FileNode | LinkNode | DirectoryNode

const messages: Record<string, string> = {
  ENOENT: 'no such file or directory',
  EEXIST: 'file already exists',
  ENOTDIR: 'not a directory',
  EISDIR: 'illegal operation on a directory',
  ENOTEMPTY: 'directory not empty',
  ELOOP: 'too many symbolic links encountered',
  EINVAL: 'invalid argument',
  ENOSPC: 'no space left on device',
  EROFS: 'read-only file system',
  EIO: 'i/o error',
}

/** An error as node:fs throws it. */
export function fileError(code: string, call: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${messages[code] ?? code}, ${call} '${path}'`), {
    code,
    syscall: call,
    path,
  })
}

/** Where a path ends: the folder that holds (or would hold) the last name, and what is there. */
export interface Place {
  directory: DirectoryNode
  name: string
  node: TreeNode | undefined
}

/** Linux gives up after 40 links (path_resolution(7)). */
const MOST_LINKS = 40

export function emptyTree(): DirectoryNode {
  return { kind: 'directory', mode: 0o755, modified: 0, entries: new Map() }
}

/**
 * Resolves `path` from the root (a relative path counts from there too). `follow`: whether a link at its very end is
 * followed. Throws ENOENT, ENOTDIR, ELOOP; a last name that is not there is no error.
 */
export function locate(root: DirectoryNode, path: string, follow: boolean, call: string): Place {
  let links = 0
  const walk = (
    from: readonly DirectoryNode[],
    text: string,
  ): Place & { trail: readonly DirectoryNode[] } => {
    const trail = text.startsWith('/') ? [root] : [...from]
    const names = text.split('/').filter(name => name !== '' && name !== '.')
    let place: Place = { directory: trail.at(-1) ?? root, name: '.', node: trail.at(-1) ?? root }
    for (const [index, name] of names.entries()) {
      if (!place.node) throw fileError('ENOENT', call, path)
      if (place.node.kind !== 'directory') throw fileError('ENOTDIR', call, path)
      const directory: DirectoryNode = place.node
      if (name === '..') {
        if (trail.length > 1) trail.pop()
        const parent = trail.at(-1) ?? root
        place = { directory: parent, name: '.', node: parent }
        continue
      }
      place = { directory, name, node: directory.entries.get(name) }
      const isLast = index === names.length - 1
      if (place.node?.kind === 'symlink' && (!isLast || follow)) {
        links += 1
        if (links > MOST_LINKS) throw fileError('ELOOP', call, path)
        const reached = walk(trail, place.node.target)
        place = reached
        trail.splice(0, trail.length, ...reached.trail)
      }
      if (place.node?.kind === 'directory' && trail.at(-1) !== place.node) trail.push(place.node)
    }
    return { ...place, trail }
  }
  const { directory, name, node } = walk([root], path)
  return { directory, name, node }
}
