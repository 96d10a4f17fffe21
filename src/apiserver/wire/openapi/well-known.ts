/** Types whose JSON is not an object of fields: what OpenAPI says of them, and what a value must look like. */

export interface WellKnownType {
  /** Full name of the component, where it is one of its own; plain types stand in the field itself. */
  component?: string
  openapi: Record<string, unknown>
  /** undefined when the value is right; `wrong type`, or Go's own text. */
  complaint(value: unknown): string | undefined
}

const wrong = 'wrong type'
const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const apiextensions = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1'

const text = (value: unknown) => (typeof value === 'string' ? undefined : wrong)

function integer(bits: 32 | 64) {
  const limit = bits === 32 ? 2 ** 31 : Number.MAX_SAFE_INTEGER
  return (value: unknown) =>
    typeof value === 'number' && Number.isInteger(value) && value >= -limit && value < limit
      ? undefined
      : wrong
}

function base64(value: unknown): string | undefined {
  if (typeof value !== 'string') return wrong
  // Go skips line ends and wants padding.
  const body = value.replace(/[\r\n]/g, '')
  if (body.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(body)) return undefined
  const bad = value.search(/[^A-Za-z0-9+/=\r\n]/)
  return `illegal base64 data at input byte ${bad < 0 ? Math.max(0, value.length - (value.length % 4 || 4)) : bad}`
}

function moment(layout: string, form: RegExp) {
  return (value: unknown): string | undefined => {
    if (typeof value !== 'string') return wrong
    if (form.test(value) && !Number.isNaN(Date.parse(value))) return undefined
    return `parsing time ${JSON.stringify(value)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(value)} as a time`
  }
}

const zone = '(Z|[+-]\\d\\d:\\d\\d)$'
const time = moment(
  '2006-01-02T15:04:05Z07:00',
  new RegExp(`^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?${zone}`),
)
/** Exactly six digits of fraction, or the API server answers 400. */
const microTime = moment(
  '2006-01-02T15:04:05.000000Z07:00',
  new RegExp(`^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}${zone}`),
)

const quantityForm = /^[+-]?(\d+\.?\d*|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/
function quantity(value: unknown): string | undefined {
  if (typeof value === 'number') return undefined
  if (typeof value !== 'string') return wrong
  return quantityForm.test(value)
    ? undefined
    : "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
}

/** Parts of CustomResourceDefinitions, which are read only: nothing is to be checked. */
const anything = (name: string, description: string): WellKnownType => ({
  component: `${apiextensions}.${name}`,
  openapi: { description },
  complaint: () => undefined,
})

export const wellKnownTypes: Readonly<Record<string, WellKnownType>> = {
  string: { openapi: { type: 'string' }, complaint: text },
  bool: {
    openapi: { type: 'boolean' },
    complaint: value => (typeof value === 'boolean' ? undefined : wrong),
  },
  int: { openapi: { type: 'integer', format: 'int32' }, complaint: integer(32) },
  int64: { openapi: { type: 'integer', format: 'int64' }, complaint: integer(64) },
  bytes: { openapi: { type: 'string', format: 'byte' }, complaint: base64 },
  Time: {
    component: `${meta}.Time`,
    openapi: {
      type: 'string',
      format: 'date-time',
      description:
        'Time is a wrapper around time.Time which supports correct marshaling to YAML and JSON.  Wrappers are provided for many of the factory methods that the time package offers.',
    },
    complaint: time,
  },
  MicroTime: {
    component: `${meta}.MicroTime`,
    openapi: {
      type: 'string',
      format: 'date-time',
      description: 'MicroTime is version of Time with microsecond level precision.',
    },
    complaint: microTime,
  },
  Quantity: {
    component: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
    openapi: {
      oneOf: [{ type: 'string' }, { type: 'number' }],
      description: 'Quantity is a fixed-point representation of a number, e.g. `128Mi` or `100m`.',
    },
    complaint: quantity,
  },
  IntOrString: {
    component: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
    openapi: {
      oneOf: [{ type: 'integer' }, { type: 'string' }],
      format: 'int-or-string',
      description: 'IntOrString is a type that can hold an int32 or a string.',
    },
    complaint: value => (typeof value === 'string' ? undefined : integer(32)(value)),
  },
  FieldsV1: {
    component: `${meta}.FieldsV1`,
    openapi: {
      type: 'object',
      description: 'FieldsV1 stores a set of fields in a data structure like a Trie, in JSON format.',
    },
    complaint: value => (typeof value === 'object' && value !== null ? undefined : wrong),
  },
  double: {
    openapi: { type: 'number', format: 'double' },
    complaint: value => (typeof value === 'number' ? undefined : wrong),
  },
  JSON: anything(
    'JSON',
    'JSON represents any valid JSON value. These types are supported: bool, int64, float64, string, []interface{}, map[string]interface{} and nil.',
  ),
  JSONSchemaPropsOrArray: anything(
    'JSONSchemaPropsOrArray',
    'JSONSchemaPropsOrArray represents a value that can either be a JSONSchemaProps or an array of JSONSchemaProps. Mainly here for serialization purposes.',
  ),
  JSONSchemaPropsOrBool: anything(
    'JSONSchemaPropsOrBool',
    'JSONSchemaPropsOrBool represents JSONSchemaProps or a boolean value. Defaults to true for the boolean property.',
  ),
  JSONSchemaPropsOrStringArray: anything(
    'JSONSchemaPropsOrStringArray',
    'JSONSchemaPropsOrStringArray represents a JSONSchemaProps or a string array.',
  ),
  ExtraValue: {
    openapi: { type: 'array', items: { type: 'string', default: '' } },
    complaint: value =>
      Array.isArray(value) && value.every(item => typeof item === 'string') ? undefined : wrong,
  },
}
