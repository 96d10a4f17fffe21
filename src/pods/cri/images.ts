import { RollcallError } from '../../errors.ts'
import { notStarted } from '../not-started.ts'
import type { Container, StaticPod } from '../pod.ts'
import type { Cri } from './cri.ts'
import type { Image, PodSandboxConfig } from './cri-types.ts'
import type { ImageArchives } from './image-archives.ts'

/** Kubernetes' default: an image without a tag, or with `latest`, may be another one tomorrow. */
export function pullPolicy({ image, imagePullPolicy }: Container): 'Always' | 'IfNotPresent' | 'Never' {
  if (imagePullPolicy) return imagePullPolicy
  const name = image.slice(image.lastIndexOf('/') + 1)
  if (name.includes('@')) return 'IfNotPresent'
  const tag = name.split(':')[1] ?? 'latest'
  return tag === 'latest' ? 'Always' : 'IfNotPresent'
}

/** The image of a container, fetched if need be. Rejects with POD_CONTAINER_NOT_STARTED and Kubernetes' reason. */
export async function provideImage(
  cri: Cri,
  container: Container,
  sandbox: PodSandboxConfig,
  { archives, signal }: { archives: ImageArchives | undefined; signal: AbortSignal },
): Promise<Image> {
  const { image } = container
  const policy = pullPolicy(container)
  let here = await cri.imageStatus(image)
  if (!here && (await archives?.importNew())) here = await cri.imageStatus(image)
  if (here && policy !== 'Always') return here
  if (policy === 'Never')
    throw notStarted(
      'ErrImageNeverPull',
      `The image ${image} is not here, and imagePullPolicy is Never; import it into the runtime.`,
    )
  try {
    await cri.pullImage(image, sandbox, signal)
  } catch (error) {
    if (!(error instanceof RollcallError)) throw error
    const hint = here ? ' It is here already: imagePullPolicy: IfNotPresent would use it.' : ''
    throw notStarted(
      'ErrImagePull',
      `The image ${image} cannot be fetched (${error.message}).${hint}`,
      'image',
    )
  }
  const fetched = await cri.imageStatus(image)
  if (fetched) return fetched
  throw notStarted('ErrImagePull', `The image ${image} was fetched and is not here.`, 'image')
}

/** Holds runAsNonRoot against the image, as it names its own user. Throws CreateContainerConfigError. */
export function checkNonRoot(pod: StaticPod, { name, securityContext: own }: Container, image: Image): void {
  const shared = pod.spec.securityContext
  if (!(own?.runAsNonRoot ?? shared?.runAsNonRoot)) return
  if ((own?.runAsUser ?? shared?.runAsUser) !== undefined) return
  const refuse = (why: string) =>
    notStarted('CreateContainerConfigError', `Container ${name}: runAsNonRoot, and ${why}; set runAsUser.`)
  if (image.username) throw refuse(`the image's user ${image.username} is no number that could be checked`)
  if ((image.uid?.value ?? 0) === 0) throw refuse('the image runs as root')
}
