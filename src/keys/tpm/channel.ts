/** A connection to a TPM, which answers one command at a time. */
export interface TpmChannel {
  /** Sends a whole command and gives the whole response. Rejects with the system's own error, or TPM_MALFORMED. */
  exchange(command: Uint8Array): Promise<Uint8Array>
  close(): void
}

/**
 * Opens `/dev/tpmrm0`, or the raw socket of a software TPM: `unix:/path`, `tcp:HOST:PORT`. Rejects with the system's own
 * error.
 */
export type OpenTpm = (place: string) => Promise<TpmChannel>
