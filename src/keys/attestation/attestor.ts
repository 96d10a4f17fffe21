/** The machine's side of a proof: its TPM, or a key that is registered for it, in a file, a token or another program. */
import { RollcallError, systemCode } from '../../errors.ts'
import type { Clock } from '../../ports.ts'
import type { OpenKey } from '../open-key.ts'
import type { OpenTpm } from '../tpm/channel.ts'
import {
  attestationKeyTemplate,
  endorsementKeyTemplate,
  isEndorsementKey,
  parsePublicArea,
} from '../tpm/public-area.ts'
import { createTpm, type LoadedKey, type Tpm } from '../tpm/tpm.ts'
import { type Challenge, type MachineKey, type Proof, signedText } from './messages.ts'

/** Asks for a challenge to this key; the qualifying data is what it is to be answered over. */
export type AskChallenge = (machine: MachineKey) => Promise<{ challenge: Challenge; qualifying: Uint8Array }>

export interface Attestor {
  /** For messages. */
  readonly name: string
  /** Rejects with what `ask` rejects with, and TPM_ABSENT, TPM_REFUSED, TOKEN_ABSENT … */
  prove(ask: AskChallenge): Promise<{ machine: MachineKey; challenge: Challenge; proof: Proof }>
}

/** Where TCG's profile has the manufacturer keep the RSA endorsement key; making it anew may take half a minute. */
const endorsementKeyHandle = 0x8101_0001

/** Nothing of it is kept on the disk: both keys come from the TPM's own seed each time. */
export function tpmAttestor(place: string, open: OpenTpm, clock: Clock): Attestor {
  return {
    name: `TPM ${place}`,
    async prove(ask) {
      const channel = await open(place).catch(cause => {
        const why = systemCode(cause) ?? String(cause)
        throw new RollcallError(
          'TPM_ABSENT',
          `the TPM ${place} cannot be opened (${why}).`,
          { place },
          { cause },
        )
      })
      const tpm = createTpm(channel, clock)
      try {
        return await tpm.using(endorsementKeyOf(tpm), endorsementKey =>
          tpm.using(tpm.createPrimary('endorsement', attestationKeyTemplate), key =>
            proveBy(tpm, endorsementKey, key, ask),
          ),
        )
      } finally {
        tpm.close()
      }
    },
  }
}

async function endorsementKeyOf(tpm: Tpm): Promise<LoadedKey> {
  try {
    const kept = await tpm.readPublic(endorsementKeyHandle)
    if (isEndorsementKey(parsePublicArea(kept.publicArea))) return kept
  } catch (error) {
    // Not kept, or of another kind: the template gives the same key.
    const code = error instanceof RollcallError ? error.code : undefined
    if (code !== 'TPM_REFUSED' && code !== 'TPM_MALFORMED') throw error
  }
  return tpm.createPrimary('endorsement', endorsementKeyTemplate)
}

async function proveBy(tpm: Tpm, endorsementKey: LoadedKey, key: LoadedKey, ask: AskChallenge) {
  const machine: MachineKey = {
    type: 'TPM',
    endorsementKey: endorsementKey.publicArea,
    attestationKey: key.publicArea,
  }
  const { challenge, qualifying } = await ask(machine)
  if (!challenge.credential)
    throw new RollcallError('ATTESTATION_REFUSED', 'the challenge has no credential for a TPM.', {})
  const secret = await tpm.activateCredential(key, endorsementKey, challenge.credential)
  const proof: Proof = { type: 'TPM', secret, ...(await tpm.quote(key, qualifying)) }
  return { machine, challenge, proof }
}

/** `open` opens the key anew for each proof: a token may have been away. */
export function keyAttestor(name: string, open: () => Promise<OpenKey>): Attestor {
  return {
    name,
    async prove(ask) {
      const key = await open()
      try {
        const { signer } = key
        const machine: MachineKey = { type: 'PublicKey', publicKey: signer.publicKey }
        const { challenge, qualifying } = await ask(machine)
        const proof: Proof = { type: 'PublicKey', signature: await signer.sign(signedText(qualifying)) }
        return { machine, challenge, proof }
      } finally {
        key.close()
      }
    },
  }
}
