import { Argument, type Command } from 'commander'
import { type TrustRole, trustRoles } from '../../kube/rollcall/trust-bundle.ts'

/** Adds the argument `<role>`: whose CA. */
export function addRole(command: Command): Command {
  return command.addArgument(new Argument('<role>', 'whose CA').choices(trustRoles))
}

/** Signers hand out leaves alone, so that only the API server's own chain can be bridged by a certificate beside it. */
export function bridgeOf(role: TrustRole): 'CrossSigned' | 'None' {
  return role === 'apiserver-serving' ? 'CrossSigned' : 'None'
}
