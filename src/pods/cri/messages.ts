/**
 * The messages of the CRI v1 (runtime.v1) that are used here, with their field numbers; what a runtime sends beyond them is
 * skipped. A field is `name=number:type`: no type is a string, `[]` a list, `{}` a map from strings to strings, `nanos` a
 * time in nanoseconds since the epoch that is held in milliseconds; other names are messages of this table.
 */
const table = `
VersionRequest version=1
VersionResponse version=1 runtimeName=2 runtimeVersion=3 runtimeApiVersion=4
StatusRequest verbose=1:bool
StatusResponse status=1:RuntimeStatus info=2:{}
RuntimeStatus conditions=1:[]RuntimeCondition
RuntimeCondition type=1 status=2:bool reason=3 message=4
RuntimeConfigRequest
RuntimeConfigResponse linux=1:LinuxRuntimeConfiguration
LinuxRuntimeConfiguration cgroupDriver=1:int
RunPodSandboxRequest config=1:PodSandboxConfig runtimeHandler=2
RunPodSandboxResponse podSandboxId=1
PodSandboxConfig metadata=1:PodSandboxMetadata hostname=2 logDirectory=3 portMappings=5:[]PortMapping labels=6:{} annotations=7:{} linux=8:LinuxPodSandboxConfig
PodSandboxMetadata name=1 uid=2 namespace=3 attempt=4:int
PortMapping protocol=1:int containerPort=2:int hostPort=3:int hostIp=4
LinuxPodSandboxConfig cgroupParent=1 securityContext=2:LinuxSandboxSecurityContext
LinuxSandboxSecurityContext namespaceOptions=1:NamespaceOption runAsUser=3:Int64Value supplementalGroups=5:[]int privileged=6:bool runAsGroup=8:Int64Value seccomp=9:SecurityProfile
NamespaceOption network=1:int pid=2:int ipc=3:int
SecurityProfile profileType=1:int localhostRef=2
Int64Value value=1:int
PodSandboxRequest podSandboxId=1
PodSandboxStatusResponse status=1:PodSandboxStatus
PodSandboxStatus id=1 metadata=2:PodSandboxMetadata state=3:int createdAt=4:nanos network=5:PodSandboxNetworkStatus labels=7:{} annotations=8:{}
PodSandboxNetworkStatus ip=1 additionalIps=2:[]PodIP
PodIP ip=1
ListPodSandboxRequest
ListPodSandboxResponse items=1:[]PodSandbox
PodSandbox id=1 metadata=2:PodSandboxMetadata state=3:int createdAt=4:nanos labels=5:{} annotations=6:{}
CreateContainerRequest podSandboxId=1 config=2:ContainerConfig sandboxConfig=3:PodSandboxConfig
CreateContainerResponse containerId=1
ContainerConfig metadata=1:ContainerMetadata image=2:ImageSpec command=3:[] args=4:[] workingDir=5 envs=6:[]KeyValue mounts=7:[]Mount labels=9:{} annotations=10:{} logPath=11 linux=15:LinuxContainerConfig
ContainerMetadata name=1 attempt=2:int
ImageSpec image=1
KeyValue key=1 value=2
Mount containerPath=1 hostPath=2 readonly=3:bool propagation=5:int
LinuxContainerConfig resources=1:LinuxContainerResources securityContext=2:LinuxContainerSecurityContext
LinuxContainerResources cpuPeriod=1:int cpuQuota=2:int cpuShares=3:int memoryLimitInBytes=4:int oomScoreAdj=5:int
LinuxContainerSecurityContext capabilities=1:Capability privileged=2:bool namespaceOptions=3:NamespaceOption runAsUser=5:Int64Value readonlyRootfs=7:bool supplementalGroups=8:[]int noNewPrivs=11:bool runAsGroup=12:Int64Value maskedPaths=13:[] readonlyPaths=14:[] seccomp=15:SecurityProfile
Capability addCapabilities=1:[] dropCapabilities=2:[]
ContainerRequest containerId=1
StopContainerRequest containerId=1 timeout=2:int
ListContainersRequest filter=1:ContainerFilter
ContainerFilter labelSelector=4:{}
ListContainersResponse containers=1:[]Container
Container id=1 podSandboxId=2 metadata=3:ContainerMetadata imageRef=5 state=6:int createdAt=7:nanos labels=8:{} annotations=9:{}
ContainerStatusResponse status=1:ContainerStatus
ContainerStatus id=1 metadata=2:ContainerMetadata state=3:int createdAt=4:nanos startedAt=5:nanos finishedAt=6:nanos exitCode=7:int imageRef=9 reason=10 message=11 labels=12:{} annotations=13:{} logPath=15
ExecSyncRequest containerId=1 cmd=2:[] timeout=3:int
ExecSyncResponse stdout=1:bytes stderr=2:bytes exitCode=3:int
ExecRequest containerId=1 cmd=2:[] tty=3:bool stdin=4:bool stdout=5:bool stderr=6:bool
AttachRequest containerId=1 stdin=2:bool tty=3:bool stdout=4:bool stderr=5:bool
PortForwardRequest podSandboxId=1 port=2:[]int
UrlResponse url=1
ImageStatusRequest image=1:ImageSpec
ImageStatusResponse image=1:Image
Image id=1 repoTags=2:[] repoDigests=3:[] uid=5:Int64Value username=6
ListImagesRequest
ListImagesResponse images=1:[]Image
PullImageRequest image=1:ImageSpec sandboxConfig=3:PodSandboxConfig
PullImageResponse imageRef=1
Empty
`

export interface Field {
  name: string
  number: number
  /** `string`, `int`, `bool`, `bytes`, `nanos` or a message of the table. */
  type: string
  shape: 'single' | 'list' | 'map'
}

export type Message = readonly Field[]

const fieldSyntax = /^(?<name>\w+)=(?<number>\d+)(:(?<shape>\[\]|\{\})?(?<type>\w*))?$/
const shapes: Readonly<Record<string, Field['shape']>> = { '[]': 'list', '{}': 'map' }

function parseField(text: string): Field {
  const parts = fieldSyntax.exec(text)?.groups
  if (!parts?.name) throw new Error(`CRI table: cannot read the field ${text}`)
  const { name, number, shape = '', type } = parts
  return { name, number: Number(number), type: type || 'string', shape: shapes[shape] ?? 'single' }
}

const messages: ReadonlyMap<string, Message> = new Map(
  table
    .trim()
    .split('\n')
    .map(line => {
      const [name = '', ...fields] = line.split(' ')
      return [name, fields.map(parseField)]
    }),
)

export function messageNamed(name: string): Message {
  const message = messages.get(name)
  if (!message) throw new Error(`CRI table: the message ${name} is missing`)
  return message
}
