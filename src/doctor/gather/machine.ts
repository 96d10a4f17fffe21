/** What the doctor asks the machine that it runs on, when that is a node. */
export interface Machine {
  hostname(): string
  /** Of the file system that holds the path; rejects as the file system does. */
  space(path: string): Promise<{ freeBytes: number; freeFiles: number; readOnly: boolean }>
}
