/**
 * Field numbers of the protobuf messages (Kubernetes 1.36) that a node, kubectl and a controller manager send, one
 * message a line (continued lines are indented): `Message field=number:type …`. No type is a string; `int`, `bool`,
 * `bytes` or another message otherwise. `[]` before it is a list, `{}` a map from strings; `?` after it is a pointer in
 * Go, whose zero value is kept; `^` before a field flattens its message into the parent, as JSON does with inlined
 * structs.
 */
export const messages = `
CertificateSigningRequest metadata=1:ObjectMeta spec=2:CertificateSigningRequestSpec
  status=3:CertificateSigningRequestStatus
ObjectMeta name=1 generateName=2 namespace=3 selfLink=4 uid=5 resourceVersion=6 generation=7:int
  creationTimestamp=8:Time deletionTimestamp=9:Time deletionGracePeriodSeconds=10:int? labels=11:{}
  annotations=12:{} ownerReferences=13:[]OwnerReference finalizers=14:[]
  managedFields=17:[]ManagedFieldsEntry
OwnerReference apiVersion=5 kind=1 name=3 uid=4 controller=6:bool? blockOwnerDeletion=7:bool?
ManagedFieldsEntry manager=1 operation=2 apiVersion=3 time=4:Time fieldsType=6 fieldsV1=7:FieldsV1
  subresource=8
CertificateSigningRequestSpec request=1:bytes signerName=7 expirationSeconds=8:int? usages=5:[] username=2
  uid=3 groups=4:[] extra=6:{}ExtraValue
CertificateSigningRequestStatus conditions=1:[]CertificateSigningRequestCondition certificate=2:bytes
CertificateSigningRequestCondition type=1 status=6 reason=2 message=3 lastUpdateTime=4:Time
  lastTransitionTime=5:Time
Node metadata=1:ObjectMeta spec=2:NodeSpec status=3:NodeStatus
NodeSpec podCIDR=1 podCIDRs=7:[] providerID=3 unschedulable=4:bool taints=5:[]Taint
  configSource=6:NodeConfigSource externalID=2
Taint key=1 value=2 effect=3 timeAdded=4:Time
NodeConfigSource configMap=2:ConfigMapNodeConfigSource
ConfigMapNodeConfigSource namespace=1 name=2 uid=3 resourceVersion=4 kubeletConfigKey=5
NodeStatus capacity=1:{}Quantity allocatable=2:{}Quantity phase=3 conditions=4:[]NodeCondition
  addresses=5:[]NodeAddress daemonEndpoints=6:NodeDaemonEndpoints nodeInfo=7:NodeSystemInfo
  images=8:[]ContainerImage volumesInUse=9:[] volumesAttached=10:[]AttachedVolume config=11:NodeConfigStatus
  runtimeHandlers=12:[]NodeRuntimeHandler features=13:NodeFeatures declaredFeatures=14:[]
NodeCondition type=1 status=2 lastHeartbeatTime=3:Time lastTransitionTime=4:Time reason=5 message=6
NodeAddress type=1 address=2
NodeDaemonEndpoints kubeletEndpoint=1:DaemonEndpoint
DaemonEndpoint Port=1:int
NodeSystemInfo machineID=1 systemUUID=2 bootID=3 kernelVersion=4 osImage=5 containerRuntimeVersion=6
  kubeletVersion=7 kubeProxyVersion=8 operatingSystem=9 architecture=10 swap=11:NodeSwapStatus
NodeSwapStatus capacity=1:int?
ContainerImage names=1:[] sizeBytes=2:int
AttachedVolume name=1 devicePath=2
NodeConfigStatus assigned=1:NodeConfigSource active=2:NodeConfigSource lastKnownGood=3:NodeConfigSource
  error=4
NodeRuntimeHandler name=1 features=2:NodeRuntimeHandlerFeatures
NodeRuntimeHandlerFeatures recursiveReadOnlyMounts=1:bool? userNamespaces=2:bool?
NodeFeatures supplementalGroupsPolicy=1:bool?
Lease metadata=1:ObjectMeta spec=2:LeaseSpec
LeaseSpec holderIdentity=1:? leaseDurationSeconds=2:int? acquireTime=3:MicroTime renewTime=4:MicroTime
  leaseTransitions=5:int? strategy=6:? preferredHolder=7:?
Event metadata=1:ObjectMeta involvedObject=2:ObjectReference reason=3 message=4 source=5:EventSource
  firstTimestamp=6:Time lastTimestamp=7:Time count=8:int type=9 eventTime=10:MicroTime series=11:EventSeries
  action=12 related=13:ObjectReference reportingComponent=14 reportingInstance=15
ObjectReference kind=1 namespace=2 name=3 uid=4 apiVersion=5 resourceVersion=6 fieldPath=7
EventSource component=1 host=2
EventSeries count=1:int lastObservedTime=2:MicroTime
Secret metadata=1:ObjectMeta immutable=5:bool? data=2:{}bytes stringData=4:{} type=3
ConfigMap metadata=1:ObjectMeta immutable=4:bool? data=2:{} binaryData=3:{}bytes
Namespace metadata=1:ObjectMeta spec=2:NamespaceSpec status=3:NamespaceStatus
NamespaceSpec finalizers=1:[]
NamespaceStatus phase=1 conditions=2:[]NamespaceCondition
NamespaceCondition type=1 status=2 lastTransitionTime=4:Time reason=5 message=6
ServiceAccount metadata=1:ObjectMeta secrets=2:[]ObjectReference imagePullSecrets=3:[]LocalObjectReference
  automountServiceAccountToken=4:bool?
LocalObjectReference name=1
SubjectAccessReview metadata=1:ObjectMeta spec=2:SubjectAccessReviewSpec status=3:SubjectAccessReviewStatus
SubjectAccessReviewSpec resourceAttributes=1:ResourceAttributes
  nonResourceAttributes=2:NonResourceAttributes user=3 groups=4:[] extra=5:{}ExtraValue uid=6
ResourceAttributes namespace=1 verb=2 group=3 version=4 resource=5 subresource=6 name=7
  fieldSelector=8:FieldSelectorAttributes labelSelector=9:LabelSelectorAttributes
FieldSelectorAttributes rawSelector=1 requirements=2:[]FieldSelectorRequirement
FieldSelectorRequirement key=1 operator=2 values=3:[]
LabelSelectorAttributes rawSelector=1 requirements=2:[]LabelSelectorRequirement
LabelSelectorRequirement key=1 operator=2 values=3:[]
NonResourceAttributes path=1 verb=2
SubjectAccessReviewStatus allowed=1:bool denied=4:bool reason=2 evaluationError=3
SelfSubjectAccessReview metadata=1:ObjectMeta spec=2:SelfSubjectAccessReviewSpec
  status=3:SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec resourceAttributes=1:ResourceAttributes
  nonResourceAttributes=2:NonResourceAttributes
LocalSubjectAccessReview metadata=1:ObjectMeta spec=2:SubjectAccessReviewSpec
  status=3:SubjectAccessReviewStatus
SelfSubjectRulesReview metadata=1:ObjectMeta spec=2:SelfSubjectRulesReviewSpec
  status=3:SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec namespace=1
SubjectRulesReviewStatus resourceRules=1:[]ResourceRule nonResourceRules=2:[]NonResourceRule
  incomplete=3:bool evaluationError=4
ResourceRule verbs=1:[] apiGroups=2:[] resources=3:[] resourceNames=4:[]
NonResourceRule verbs=1:[] nonResourceURLs=2:[]
SelfSubjectReview metadata=1:ObjectMeta status=2:SelfSubjectReviewStatus
SelfSubjectReviewStatus userInfo=1:UserInfo
UserInfo username=1 uid=2 groups=3:[] extra=4:{}ExtraValue
TokenReview metadata=1:ObjectMeta spec=2:TokenReviewSpec status=3:TokenReviewStatus
TokenReviewSpec token=1 audiences=2:[]
TokenReviewStatus authenticated=1:bool user=2:UserInfo audiences=4:[] error=3
TokenRequest metadata=1:ObjectMeta spec=2:TokenRequestSpec status=3:TokenRequestStatus
TokenRequestSpec audiences=1:[] expirationSeconds=4:int? boundObjectRef=3:BoundObjectReference
BoundObjectReference kind=1 apiVersion=2 name=3 uid=4
TokenRequestStatus token=1 expirationTimestamp=2:Time
DeleteOptions gracePeriodSeconds=1:int? preconditions=2:Preconditions orphanDependents=3:bool?
  propagationPolicy=4:? dryRun=5:[] ignoreStoreReadErrorWithClusterBreakingPotential=6:bool?
Preconditions uid=1:? resourceVersion=2:?
Role metadata=1:ObjectMeta rules=2:[]PolicyRule
PolicyRule verbs=1:[] apiGroups=2:[] resources=3:[] resourceNames=4:[] nonResourceURLs=5:[]
ClusterRole metadata=1:ObjectMeta rules=2:[]PolicyRule aggregationRule=3:AggregationRule
AggregationRule clusterRoleSelectors=1:[]LabelSelector
LabelSelector matchLabels=1:{} matchExpressions=2:[]LabelSelectorRequirement
RoleBinding metadata=1:ObjectMeta subjects=2:[]Subject roleRef=3:RoleRef
Subject kind=1 apiGroup=2 name=3 namespace=4
RoleRef apiGroup=1 kind=2 name=3
ClusterRoleBinding metadata=1:ObjectMeta subjects=2:[]Subject roleRef=3:RoleRef
CSINode metadata=1:ObjectMeta spec=2:CSINodeSpec
CSINodeSpec drivers=1:[]CSINodeDriver
CSINodeDriver name=1 nodeID=2 topologyKeys=3:[] allocatable=4:VolumeNodeResources
VolumeNodeResources count=1:int?
`
