import { hostPorts } from '../cluster/host-ports.ts'
import { systemNet } from '../host/net.ts'
import { cryptokiLoader } from '../host/pkcs11.ts'
import { parseKeyReference } from '../keys/key-reference.ts'
import { type KeyDoors, type OpenKey, openKey } from '../keys/open-key.ts'

/** The files, sockets and PKCS#11 modules of this machine. */
export function keyDoors(): KeyDoors {
  return { ...hostPorts, net: systemNet, load: cryptokiLoader(), owners: [process.getuid?.() ?? 0] }
}

/** The key of the cluster's CA as `--signing-key` names it; undefined: it lies in --dir. Rejects as `openKey`. */
export async function openCaKey(reference: string | undefined): Promise<OpenKey | undefined> {
  return reference === undefined ? undefined : openKey(parseKeyReference(reference), keyDoors())
}

export const caKeyOption = [
  '--signing-key <key>',
  "the cluster CA's key, instead of DIR/pki/ca.key: a PEM file, a pkcs11: URI or unix:/path/of/a/signer.sock?key=NAME",
] as const
