/**
 * The protobuf messages of what describes a cluster to its nodes: endpoints, drivers, runtime classes, devices, trust
 * bundles; in the form that messages.ts explains. Where two packages have a message of one name, the second carries
 * its package's name in front.
 */
export const clusterMessages = `
Endpoints metadata=1:ObjectMeta subsets=2:[]EndpointSubset
EndpointSubset addresses=1:[]EndpointAddress notReadyAddresses=2:[]EndpointAddress ports=3:[]EndpointPort
EndpointAddress ip=1 hostname=3 nodeName=4:? targetRef=2:ObjectReference
EndpointPort name=1 port=2:int protocol=3 appProtocol=4:?
EndpointSlice metadata=1:ObjectMeta addressType=4 endpoints=2:[]Endpoint ports=3:[]DiscoveryEndpointPort
Endpoint addresses=1:[] conditions=2:EndpointConditions hostname=3:? targetRef=4:ObjectReference
  deprecatedTopology=5:{} nodeName=6:? zone=7:? hints=8:EndpointHints
EndpointConditions ready=1:bool? serving=2:bool? terminating=3:bool?
EndpointHints forZones=1:[]ForZone forNodes=2:[]ForNode
ForZone name=1
ForNode name=1
DiscoveryEndpointPort name=1:? protocol=2:? port=3:int? appProtocol=4:?
CSIDriver metadata=1:ObjectMeta spec=2:CSIDriverSpec
CSIDriverSpec attachRequired=1:bool? podInfoOnMount=2:bool? volumeLifecycleModes=3:[] storageCapacity=4:bool?
  fsGroupPolicy=5:? tokenRequests=6:[]StorageTokenRequest requiresRepublish=7:bool? seLinuxMount=8:bool?
  nodeAllocatableUpdatePeriodSeconds=9:int? serviceAccountTokenInSecrets=10:bool?
StorageTokenRequest audience=1 expirationSeconds=2:int?
RuntimeClass metadata=1:ObjectMeta handler=2 overhead=3:Overhead scheduling=4:Scheduling
Overhead podFixed=1:{}Quantity
Scheduling nodeSelector=1:{} tolerations=2:[]Toleration
ClusterTrustBundle metadata=1:ObjectMeta spec=2:ClusterTrustBundleSpec
ClusterTrustBundleSpec signerName=1 trustBundle=2
ResourceSlice metadata=1:ObjectMeta spec=2:ResourceSliceSpec
ResourceSliceSpec driver=1 pool=2:ResourcePool nodeName=3:? nodeSelector=4:NodeSelector allNodes=5:bool?
  devices=6:[]Device perDeviceNodeSelection=7:bool? sharedCounters=8:[]CounterSet
ResourcePool name=1 generation=2:int resourceSliceCount=3:int
Device name=1 attributes=2:{}DeviceAttribute capacity=3:{}DeviceCapacity
  consumesCounters=4:[]DeviceCounterConsumption nodeName=5:? nodeSelector=6:NodeSelector allNodes=7:bool?
  taints=8:[]DeviceTaint bindsToNode=9:bool? bindingConditions=10:[] bindingFailureConditions=11:[]
  allowMultipleAllocations=12:bool?
DeviceAttribute int=2:int? bool=3:bool? string=4:? version=5:?
DeviceCapacity value=1:Quantity requestPolicy=2:CapacityRequestPolicy
CapacityRequestPolicy default=1:Quantity validValues=3:[]Quantity validRange=4:CapacityRequestPolicyRange
CapacityRequestPolicyRange min=1:Quantity max=2:Quantity step=3:Quantity
DeviceCounterConsumption counterSet=1 counters=2:{}Counter
CounterSet name=1 counters=2:{}Counter
Counter value=1:Quantity
DeviceTaint key=1 value=2 effect=3 timeAdded=4:Time
`
