/** What spec.signerName may be (A-5; pkg/apis/core/validation.ValidateSignerName): `domain.tld/path`. */
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { dns1123Label, dns1123Subdomain } from './names.ts'

const maximumDomain = 253
/** 253 for the domain, a slash, and 317 for the path, which must fit a namespaced name. */
const maximumSignerName = 571

export function signerNameErrors(field: string, signerName: string): FieldError[] {
  if (signerName === '') return [fieldError.required(field)]
  const segments = signerName.split('/')
  const [domain, path] = segments
  if (segments.length !== 2 || domain === undefined || path === undefined) {
    const shape = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
    return [fieldError.invalid(field, signerName, shape)]
  }
  const errors: FieldError[] = []
  if (domain.length > maximumDomain) errors.push(fieldError.tooLong(field, maximumDomain))
  const labels = domain.split('.')
  errors.push(...partErrors(field, domain, labels, dns1123Label))
  if (labels.length < 2) {
    errors.push(
      fieldError.invalid(field, domain, 'should be a domain with at least two segments separated by dots'),
    )
  }
  errors.push(...partErrors(field, path, path.split('.'), dns1123Subdomain))
  if (signerName.length > maximumSignerName) errors.push(fieldError.tooLong(field, maximumSignerName))
  return errors
}

function partErrors(
  field: string,
  whole: string,
  parts: readonly string[],
  complaintsOf: (part: string) => string[],
): FieldError[] {
  return parts.flatMap(part =>
    complaintsOf(part).map(text =>
      fieldError.invalid(field, whole, `validating label ${JSON.stringify(part)}: ${text}`),
    ),
  )
}
