/** A disk that answers when promise callbacks do, so that a clock driven by hand does not run ahead of it; with what a log needs. */
export function memoryDisk() {
  const files = new Map<string, Buffer>()
  const text = (path: string) => {
    const found = files.get(path)
    if (!found) throw Object.assign(new Error(`${path} is not there`), { code: 'ENOENT' })
    return found
  }
  return {
    files,
    full: false,
    read: async (path: string) => new Uint8Array(text(path)),
    readRange: async (path: string, offset: number, length: number) =>
      new Uint8Array(text(path).subarray(offset, offset + length)),
    stat: async (path: string) =>
      ({ kind: 'file', mode: 0o600, size: text(path).length, modified: 0, owner: 0 }) as const,
    list: async (directory: string) =>
      [...files.keys()]
        .filter(path => path.startsWith(`${directory}/`))
        .map(path => path.slice(directory.length + 1)),
    async write(path: string, data: Uint8Array | string) {
      // As a real disk: the file is there, and empty.
      if (this.full) files.set(path, Buffer.alloc(0))
      if (this.full) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
      files.set(path, Buffer.from(data as string))
    },
    async append(path: string, data: Uint8Array | string) {
      if (this.full) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
      files.set(path, Buffer.concat([files.get(path) ?? Buffer.alloc(0), Buffer.from(data as string)]))
    },
    async rename(from: string, to: string) {
      files.set(to, text(from))
      files.delete(from)
    },
    async syncDirectory() {},
    async remove(path: string) {
      files.delete(path)
    },
  }
}
