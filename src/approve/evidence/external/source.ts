/** Who can be asked about a node: a webhook or a program of the operator's. */

export interface EvidenceSource {
  /** As policies name it. */
  name: string
  /** Milliseconds that an answer may take. */
  timeout: number
  /**
   * What it says about the node, JSON; undefined: it does not know it. Rejects when it cannot be asked. The text of an
   * error is shown in verdicts: never a secret.
   */
  ask(nodeName: string, signal: AbortSignal): Promise<Uint8Array | undefined>
}

/** Bytes of an answer; a longer one is an error. A node with a thousand names has about 30 KiB. */
export const longestAnswer = 64 * 1024
