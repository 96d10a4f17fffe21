/** Which fields of a static pod are honoured, which are refused and why (static-pods.md 8, "Fields supported"). */
import type { FieldRule } from './check-fields.ts'

const fields = (of: Readonly<Record<string, FieldRule>>): FieldRule => ({ fields: of })
const listOf = (item: FieldRule): FieldRule => ({ listOf: item })
const strings = listOf('string')
const refused = (why: string): FieldRule => ({ refused: why })
/** Kubernetes' own words (PreventStaticPodAPIReferences): the node must be able to run it without the API. */
const reference = (to: string): FieldRule => ({
  refused: `static pods may not reference ${to}`,
  reason: 'ApiReference',
})
const unsupported = refused('is not supported for static pods of this agent')

const seccompProfile = fields({ type: 'string', localhostProfile: 'string' })
const command = fields({ command: strings })
const fieldRef = fields({ apiVersion: 'string', fieldPath: 'string' })

const probe = fields({
  exec: command,
  httpGet: fields({
    path: 'string',
    port: 'port',
    host: 'string',
    scheme: 'string',
    httpHeaders: listOf(fields({ name: 'string', value: 'string' })),
  }),
  tcpSocket: fields({ port: 'port', host: 'string' }),
  grpc: refused('gRPC probes are not supported; use exec, httpGet or tcpSocket'),
  initialDelaySeconds: 'integer',
  timeoutSeconds: 'integer',
  periodSeconds: 'integer',
  successThreshold: 'integer',
  failureThreshold: 'integer',
  terminationGracePeriodSeconds: 'integer',
})

const environment = fields({
  name: 'string',
  value: 'string',
  valueFrom: fields({
    fieldRef,
    resourceFieldRef: unsupported,
    configMapKeyRef: reference('configmaps'),
    secretKeyRef: reference('secrets'),
    fileKeyRef: unsupported,
  }),
})

const container = fields({
  name: 'string',
  image: 'string',
  imagePullPolicy: 'string',
  command: strings,
  args: strings,
  workingDir: 'string',
  env: listOf(environment),
  envFrom: listOf(
    fields({ prefix: 'string', configMapRef: reference('configmaps'), secretRef: reference('secrets') }),
  ),
  ports: listOf(
    fields({ name: 'string', containerPort: 'port', hostPort: 'port', hostIP: 'string', protocol: 'string' }),
  ),
  resources: fields({
    limits: { mapOf: 'anything' },
    requests: { mapOf: 'anything' },
    claims: reference('resourceclaims'),
  }),
  resizePolicy: unsupported,
  restartPolicy: refused('sidecar containers are not supported; make it an ordinary container'),
  restartPolicyRules: unsupported,
  volumeMounts: listOf(
    fields({
      name: 'string',
      mountPath: 'string',
      readOnly: 'boolean',
      subPath: 'string',
      subPathExpr: unsupported,
      mountPropagation: 'string',
      recursiveReadOnly: unsupported,
    }),
  ),
  volumeDevices: unsupported,
  livenessProbe: probe,
  readinessProbe: probe,
  startupProbe: probe,
  lifecycle: fields({
    preStop: fields({
      exec: command,
      sleep: fields({ seconds: 'integer' }),
      httpGet: unsupported,
      tcpSocket: unsupported,
    }),
    postStart: unsupported,
    stopSignal: unsupported,
  }),
  terminationMessagePath: 'string',
  terminationMessagePolicy: 'string',
  securityContext: fields({
    privileged: 'boolean',
    runAsUser: 'integer',
    runAsGroup: 'integer',
    runAsNonRoot: 'boolean',
    readOnlyRootFilesystem: 'boolean',
    allowPrivilegeEscalation: 'boolean',
    capabilities: fields({ add: strings, drop: strings }),
    seccompProfile,
    appArmorProfile: unsupported,
    seLinuxOptions: unsupported,
    windowsOptions: unsupported,
    procMount: unsupported,
  }),
  stdin: unsupported,
  stdinOnce: unsupported,
  tty: unsupported,
})

const networkVolumes = [
  'awsElasticBlockStore',
  'azureDisk',
  'cephfs',
  'cinder',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'gitRepo',
  'image',
  'iscsi',
  'nfs',
  'photonPersistentDisk',
  'portworxVolume',
  'quobyte',
  'rbd',
  'scaleIO',
  'storageos',
  'vsphereVolume',
]
const volume = fields({
  name: 'string',
  hostPath: fields({ path: 'string', type: 'string' }),
  emptyDir: fields({ medium: 'string', sizeLimit: 'anything' }),
  downwardAPI: fields({
    items: listOf(fields({ path: 'string', fieldRef, resourceFieldRef: unsupported, mode: 'integer' })),
    defaultMode: 'integer',
  }),
  configMap: reference('configmaps'),
  secret: reference('secrets'),
  projected: refused('projected volumes are not supported; most of their sources need the API'),
  persistentVolumeClaim: reference('persistentvolumeclaims'),
  ephemeral: reference('persistentvolumeclaims'),
  csi: reference('csidrivers'),
  glusterfs: reference('endpoints'),
  azureFile: reference('secrets'),
  ...Object.fromEntries(
    networkVolumes.map(name => [name, refused('is a volume type that is not supported')]),
  ),
})

const spec = fields({
  nodeName: 'string',
  hostNetwork: 'boolean',
  hostPID: 'boolean',
  hostIPC: 'boolean',
  hostUsers: 'boolean',
  hostname: 'string',
  restartPolicy: 'string',
  terminationGracePeriodSeconds: 'integer',
  priorityClassName: 'string',
  priority: 'integer',
  preemptionPolicy: 'string',
  // Static pods are placed by their file: nothing is scheduled or evicted by these.
  schedulerName: 'string',
  tolerations: listOf('anything'),
  dnsPolicy: 'string',
  enableServiceLinks: 'boolean',
  automountServiceAccountToken: 'boolean',
  os: fields({ name: 'string' }),
  initContainers: listOf(container),
  containers: listOf(container),
  volumes: listOf(volume),
  securityContext: fields({
    runAsUser: 'integer',
    runAsGroup: 'integer',
    runAsNonRoot: 'boolean',
    supplementalGroups: listOf('integer'),
    seccompProfile,
    fsGroup: unsupported,
    fsGroupChangePolicy: unsupported,
    supplementalGroupsPolicy: unsupported,
    sysctls: unsupported,
    appArmorProfile: unsupported,
    seLinuxOptions: unsupported,
    windowsOptions: unsupported,
  }),
  serviceAccountName: reference('serviceaccounts'),
  serviceAccount: reference('serviceaccounts'),
  imagePullSecrets: reference('secrets'),
  resourceClaims: reference('resourceclaims'),
  ephemeralContainers: refused(
    'ephemeral containers are added through the API, which a static pod does not use',
  ),
  nodeSelector: refused('is not supported: a static pod runs where its file is'),
  affinity: refused('is not supported: a static pod runs where its file is'),
  topologySpreadConstraints: refused('is not supported: a static pod runs where its file is'),
  activeDeadlineSeconds: unsupported,
  dnsConfig: unsupported,
  hostAliases: unsupported,
  overhead: unsupported,
  readinessGates: unsupported,
  runtimeClassName: unsupported,
  schedulingGates: unsupported,
  setHostnameAsFQDN: unsupported,
  shareProcessNamespace: unsupported,
  subdomain: unsupported,
  resources: unsupported,
})

export const podFields: FieldRule = fields({
  apiVersion: 'string',
  kind: 'string',
  metadata: fields({
    name: 'string',
    namespace: 'string',
    uid: 'string',
    labels: { mapOf: 'string' },
    annotations: { mapOf: 'string' },
    // Left over where somebody saved what the API shows.
    creationTimestamp: 'anything',
    managedFields: 'anything',
    resourceVersion: 'anything',
    generation: 'anything',
  }),
  spec,
  status: 'anything',
})
