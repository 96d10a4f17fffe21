/** One complaint about one field, in Kubernetes' words (apimachinery field.Error). */
export interface FieldError {
  type:
    | 'Required'
    | 'Invalid'
    | 'TypeInvalid'
    | 'NotSupported'
    | 'Duplicate'
    | 'Forbidden'
    | 'TooLong'
    | 'TooMany'
    | 'NotFound'
  /** E.g. `spec.usages[0]`. */
  field: string
  /** After the colon, e.g. `Invalid value: "x": must be …`. */
  text: string
}

const quote = (value: unknown) => JSON.stringify(value)

export const fieldError = {
  required: (field: string, detail = ''): FieldError => ({
    type: 'Required',
    field,
    text: detail ? `Required value: ${detail}` : 'Required value',
  }),
  invalid: (field: string, value: unknown, detail: string): FieldError => ({
    type: 'Invalid',
    field,
    text: `Invalid value: ${quote(value)}: ${detail}`,
  }),
  notSupported: (field: string, value: unknown, supported: readonly string[]): FieldError => ({
    type: 'NotSupported',
    field,
    text: `Unsupported value: ${quote(value)}: supported values: ${supported.map(quote).join(', ')}`,
  }),
  duplicate: (field: string, value: unknown): FieldError => ({
    type: 'Duplicate',
    field,
    text: `Duplicate value: ${quote(value)}`,
  }),
  forbidden: (field: string, detail: string): FieldError => ({
    type: 'Forbidden',
    field,
    text: `Forbidden: ${detail}`,
  }),
  tooLong: (field: string, bytes: number): FieldError => ({
    type: 'TooLong',
    field,
    text: `Too long: may not be more than ${bytes} bytes`,
  }),
  tooMany: (field: string, count: number, most: number): FieldError => ({
    type: 'TooMany',
    field,
    text: `Too many: ${count}: must have at most ${most} items`,
  }),
  notFound: (field: string, value: unknown): FieldError => ({
    type: 'NotFound',
    field,
    text: `Not found: ${quote(value)}`,
  }),
}
