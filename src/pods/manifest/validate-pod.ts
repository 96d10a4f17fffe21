import type { Container, ManifestPod, PodSpec, Probe, Volume } from '../pod.ts'
import { probeKinds } from '../pod.ts'
import { type Finding, refusal } from './finding.ts'
import { checkSecurity } from './validate-security.ts'

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
/** A uid becomes part of a folder's name. */
const uidPattern = /^[A-Za-z0-9][-A-Za-z0-9]{0,62}$/
const hostPathTypes = [
  '',
  'DirectoryOrCreate',
  'Directory',
  'FileOrCreate',
  'File',
  'Socket',
  'CharDevice',
  'BlockDevice',
]
const downwardFields =
  /^(metadata\.(name|namespace|uid|(labels|annotations)\['[^']+'\])|spec\.nodeName|status\.(hostIP|podIP))$/

/** What a pod whose fields have the right types still gets wrong; the rules are Kubernetes' ValidatePodCreate for these fields. */
export function validatePod(pod: ManifestPod): Finding[] {
  const { spec, metadata } = pod
  return [
    ...checkMetadata(metadata),
    ...checkSpec(spec),
    ...checkSecurity(spec),
    ...spec.containers.flatMap((container, n) => checkContainer(container, `spec.containers[${n}]`, spec)),
    ...(spec.initContainers ?? []).flatMap((container, n) =>
      checkInit(container, `spec.initContainers[${n}]`, spec),
    ),
    ...(spec.volumes ?? []).flatMap((volume, n) => checkVolume(volume, `spec.volumes[${n}]`)),
  ]
}

function invalid(path: string, value: unknown, why: string): Finding {
  return refusal('Invalid', `${path}: ${JSON.stringify(value)} ${why}`)
}

function checkMetadata({ name, namespace, uid }: ManifestPod['metadata']): Finding[] {
  const findings: Finding[] = []
  if (!name) findings.push(refusal('Invalid', 'metadata.name: is missing'))
  else if (!subdomain.test(name) || name.length > 253)
    findings.push(invalid('metadata.name', name, 'is no name of lower-case letters, digits, - and .'))
  if (namespace && !label.test(namespace))
    findings.push(invalid('metadata.namespace', namespace, 'is no namespace'))
  if (uid && !uidPattern.test(uid))
    findings.push(invalid('metadata.uid', uid, 'is not made of letters, digits and -'))
  return findings
}

function checkSpec(spec: PodSpec & { hostUsers?: boolean; os?: { name?: string } }): Finding[] {
  const findings: Finding[] = []
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0)
    findings.push(
      invalid('spec.terminationGracePeriodSeconds', spec.terminationGracePeriodSeconds, 'is negative'),
    )
  const oneOf = (field: string, value: string | undefined, values: readonly string[]) => {
    if (value && !values.includes(value))
      findings.push(invalid(`spec.${field}`, value, `is none of ${values.join(', ')}`))
  }
  oneOf('restartPolicy', spec.restartPolicy, ['Always', 'OnFailure', 'Never'])
  oneOf('dnsPolicy', spec.dnsPolicy, ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default'])
  if (spec.hostname && !label.test(spec.hostname))
    findings.push(invalid('spec.hostname', spec.hostname, 'is no name of lower-case letters, digits and -'))
  if (spec.hostUsers === false)
    findings.push(refusal('Unsupported', 'spec.hostUsers: user namespaces are not supported for static pods'))
  if (spec.os?.name && spec.os.name !== 'linux')
    findings.push(refusal('Unsupported', `spec.os.name: is ${spec.os.name}, this agent runs on linux`))
  if (spec.containers.length === 0) findings.push(refusal('Invalid', 'spec.containers: is empty'))
  const named = [...(spec.initContainers ?? []), ...spec.containers].map(({ name }) => name)
  findings.push(...duplicates(named, 'spec.containers'))
  findings.push(
    ...duplicates(
      (spec.volumes ?? []).map(({ name }) => name),
      'spec.volumes',
    ),
  )
  return findings
}

function duplicates(names: readonly string[], path: string): Finding[] {
  const twice = names.filter((name, n) => names.indexOf(name) < n)
  return twice.map(name => invalid(path, name, 'is there twice'))
}

function checkInit(container: Container, path: string, spec: PodSpec): Finding[] {
  const forbidden = [...probeKinds, 'lifecycle' as const].filter(field => container[field] !== undefined)
  return [
    ...forbidden.map(field => refusal('Invalid', `${path}.${field}: an init container has none`)),
    ...checkContainer(container, path, spec),
  ]
}

function checkContainer(container: Container, path: string, spec: PodSpec): Finding[] {
  const { name, image, imagePullPolicy: policy, env = [], volumeMounts = [] } = container
  const findings: Finding[] = []
  if (!name) findings.push(refusal('Invalid', `${path}.name: is missing`))
  else if (!label.test(name))
    findings.push(invalid(`${path}.name`, name, 'is no name of lower-case letters, digits and -'))
  if (!image) findings.push(refusal('Invalid', `${path}.image: is missing`))
  if (policy && !['Always', 'IfNotPresent', 'Never'].includes(policy))
    findings.push(invalid(`${path}.imagePullPolicy`, policy, 'is none of Always, IfNotPresent, Never'))
  env.forEach((variable, n) => {
    findings.push(...checkVariable(variable, `${path}.env[${n}]`))
  })
  volumeMounts.forEach(({ name, mountPath, subPath }, n) => {
    const at = `${path}.volumeMounts[${n}]`
    if (!(spec.volumes ?? []).some(volume => volume.name === name))
      findings.push(invalid(`${at}.name`, name, 'is no volume of the pod'))
    if (!mountPath) findings.push(refusal('Invalid', `${at}.mountPath: is missing`))
    if (subPath && escapes(subPath)) findings.push(invalid(`${at}.subPath`, subPath, 'leaves its volume'))
  })
  for (const kind of probeKinds) {
    const probe = container[kind]
    if (probe) findings.push(...checkProbe(probe, `${path}.${kind}`, container, kind === 'readinessProbe'))
  }
  return findings
}

function checkVariable(
  { name, value, valueFrom }: NonNullable<Container['env']>[number],
  path: string,
): Finding[] {
  if (!name || /[=\0]/.test(name))
    return [invalid(`${path}.name`, name, 'is no name of an environment variable')]
  if (value && valueFrom) return [refusal('Invalid', `${path}: has both value and valueFrom`)]
  const field = valueFrom?.fieldRef?.fieldPath
  if (valueFrom && !(field && downwardFields.test(field)))
    return [
      refusal(
        'Unsupported',
        `${path}.valueFrom.fieldRef.fieldPath: ${JSON.stringify(field)} cannot be given`,
      ),
    ]
  return []
}

function checkProbe(probe: Probe, path: string, container: Container, mayNeedMany: boolean): Finding[] {
  const findings: Finding[] = []
  const handlers = [probe.exec, probe.httpGet, probe.tcpSocket].filter(Boolean).length
  if (handlers !== 1)
    findings.push(refusal('Invalid', `${path}: needs exactly one of exec, httpGet and tcpSocket`))
  if (probe.exec && !probe.exec.command?.length)
    findings.push(refusal('Invalid', `${path}.exec.command: is missing`))
  const port = (probe.httpGet ?? probe.tcpSocket)?.port
  if ((probe.httpGet || probe.tcpSocket) && portNumber(port, container) === undefined)
    findings.push(invalid(`${path}.port`, port, 'is neither a port nor the name of a port of the container'))
  const numbers = [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const
  for (const field of numbers)
    if ((probe[field] ?? 0) < 0) findings.push(invalid(`${path}.${field}`, probe[field], 'is negative'))
  if ((probe.successThreshold ?? 1) > 1 && !mayNeedMany)
    findings.push(invalid(`${path}.successThreshold`, probe.successThreshold, 'must be 1 here'))
  return findings
}

/** The port that a probe means: its number, or that of the container's port of this name. */
export function portNumber(port: number | string | undefined, container: Container): number | undefined {
  if (typeof port === 'number') return port
  const named = container.ports?.find(({ name }) => name !== undefined && name === port)
  if (named) return named.containerPort
  const number = port !== undefined && /^\d{1,5}$/.test(port) ? Number(port) : 0
  return number >= 1 && number <= 65_535 ? number : undefined
}

function checkVolume(volume: Volume, path: string): Finding[] {
  if (!volume.name || !label.test(volume.name))
    return [invalid(`${path}.name`, volume.name, 'is no name of a volume')]
  const sources = [volume.hostPath, volume.emptyDir, volume.downwardAPI].filter(
    source => source !== undefined,
  )
  if (sources.length > 1) return [refusal('Invalid', `${path}: has more than one source`)]
  if (sources.length === 0) return [refusal('Invalid', `${path}: has no source; give hostPath or emptyDir`)]
  if (volume.downwardAPI) return checkDownward(volume.downwardAPI, `${path}.downwardAPI`)
  if (!volume.hostPath) return []
  const { path: hostPath, type = '' } = volume.hostPath
  if (!hostPath?.startsWith('/') || escapes(hostPath))
    return [invalid(`${path}.hostPath.path`, hostPath, 'is no absolute path without ..')]
  return hostPathTypes.includes(type)
    ? []
    : [invalid(`${path}.hostPath.type`, type, 'is no type of a hostPath')]
}

function checkDownward({ items = [] }: NonNullable<Volume['downwardAPI']>, path: string): Finding[] {
  return items.flatMap(({ path: file, fieldRef }, n) => {
    const findings: Finding[] = []
    if (!file || file.startsWith('/') || escapes(file))
      findings.push(invalid(`${path}.items[${n}].path`, file, 'is no relative path without ..'))
    const field = fieldRef?.fieldPath
    if (!(field && downwardFields.test(field)))
      findings.push(invalid(`${path}.items[${n}].fieldRef.fieldPath`, field, 'cannot be given'))
    return findings
  })
}

function escapes(path: string): boolean {
  return path.split('/').includes('..')
}
