import { flag } from '../request-info.ts'
import { apiError } from '../wire/api-error.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'

const kind = { group: '', plural: 'podlogoptions', kind: 'PodLogOptions' }
const negative = 'must be greater than or equal to 0'
const notPositive = 'must be greater than 0'

/**
 * The query of `/containerLogs` for the options of `pods/log`, as kube-apiserver writes it. Throws ApiError 400 for what
 * is no number or time, 422 with Kubernetes' texts for values out of range.
 */
export function logQuery(pod: string, query: URLSearchParams): string {
  const number = (name: string) => wholeNumber(query.get(name), name)
  const [sinceSeconds, tailLines, limitBytes] = ['sinceSeconds', 'tailLines', 'limitBytes'].map(number)
  const sinceTime = query.get('sinceTime') || undefined
  if (sinceTime !== undefined && Number.isNaN(Date.parse(sinceTime)))
    throw apiError.badRequest(`parsing time ${JSON.stringify(sinceTime)}: it is not RFC 3339`)
  const errors: FieldError[] = []
  if (tailLines !== undefined && tailLines < 0)
    errors.push(fieldError.invalid('tailLines', tailLines, negative))
  if (limitBytes !== undefined && limitBytes < 1)
    errors.push(fieldError.invalid('limitBytes', limitBytes, notPositive))
  if (sinceSeconds !== undefined && sinceTime !== undefined)
    errors.push(fieldError.forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  else if (sinceSeconds !== undefined && sinceSeconds < 1)
    errors.push(fieldError.invalid('sinceSeconds', sinceSeconds, notPositive))
  if (errors.length > 0) throw apiError.invalid(kind, pod, errors)

  const passed = new URLSearchParams()
  for (const name of ['follow', 'previous', 'timestamps']) if (flag(query, name)) passed.set(name, 'true')
  if (sinceSeconds !== undefined) passed.set('sinceSeconds', String(sinceSeconds))
  if (sinceTime !== undefined) passed.set('sinceTime', sinceTime)
  if (tailLines !== undefined) passed.set('tailLines', String(tailLines))
  if (limitBytes !== undefined) passed.set('limitBytes', String(limitBytes))
  passed.sort()
  return passed.toString()
}

function wholeNumber(text: string | null, name: string): number | undefined {
  if (text === null || text === '') return undefined
  if (/^[+-]?\d{1,18}$/.test(text)) return Number(text)
  throw apiError.badRequest(
    `unable to convert query parameter ${name}: strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`,
  )
}
