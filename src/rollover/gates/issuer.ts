import type { Observations } from '../observations.ts'
import { type Gate, gate } from './gate.ts'

/** ISSUER: this CA signs, and a certificate that it signed for a canary was accepted by every server. */
export function issuerGate({ signer }: Observations, authority: number): Gate {
  const signs = signer.authority === authority
  const accepted = signer.canaryAccepted.includes(authority)
  const message = signs
    ? `a canary of CA ${authority} is not accepted everywhere`
    : `does not sign with CA ${authority}`
  return gate('ISSUER', 1, signs && accepted ? [] : [{ code: 'IssuerNotSwitched', about: 'signer', message }])
}

/** FROZEN: no CA of the role signs. */
export function frozenGate({ signer }: Observations): Gate {
  const message = `still signs with CA ${signer.authority}`
  const blocker = { code: 'IssuerNotSwitched', about: 'signer', message } as const
  return gate('FROZEN', 1, signer.authority === undefined ? [] : [blocker])
}
