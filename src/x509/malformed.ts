import { RollcallError } from '../errors.ts'

/**
 * The error for bytes that are not strict DER of the expected structure. `structure` names it ("subject", "SAN
 * dNSName"), `offset` counts bytes from the start of the outermost structure that is being parsed.
 */
export function malformed(structure: string, offset: number, why: string): RollcallError {
  return new RollcallError('X509_MALFORMED', `x509: malformed ${structure} at byte ${offset}: ${why}`, {
    structure,
    offset,
  })
}
