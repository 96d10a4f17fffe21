import { hostPorts } from '../cluster/host-ports.ts'
import { systemNet } from '../host/net.ts'
import { cryptokiLoader } from '../host/pkcs11.ts'
import type { KeyDoors } from '../keys/key-reference.ts'

/** The files, sockets and PKCS#11 modules of this machine. */
export function keyDoors(): KeyDoors {
  return { ...hostPorts, net: systemNet, load: cryptokiLoader(), owners: [process.getuid?.() ?? 0] }
}
