/**
 * What one resource is: a file of this folder fills in this interface; routing, discovery, OpenAPI, tables, storage
 * and authorization follow from it. Adding a resource touches no other room (one line in resources/index.ts).
 */
import type { StructuralSchema } from '../../kube/rollcall/kind.ts'
import type { KubeObject, ResourceRef, UserInfo } from '../../kube/types.ts'
import type { Random } from '../../ports.ts'
import type { Access } from '../access/access.ts'
import type { TokenIssuer } from '../access/authentication/service-account/token-issuer.ts'
import type { ObjectReader } from '../reader.ts'
import type { FieldError } from '../wire/field-error.ts'

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'

export const allVerbs: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
]

/** Facts about the write that hooks may need. `now` in milliseconds since the epoch. */
export interface WriteContext {
  user: UserInfo
  now: number
  /** '' for the main resource, else `status`, `approval` … */
  subresource: string
  /** The other objects, where what is written depends on them. */
  reader?: ObjectReader
}

/** A column of the Table that kubectl prints. */
export interface Column<T extends KubeObject = KubeObject> {
  name: string
  type: 'string' | 'integer' | 'date' | 'boolean'
  format?: 'name'
  description: string
  /** 0 always shown, 1 only with -o wide. */
  priority: 0 | 1
  /** `now` in milliseconds since the epoch, for ages. */
  value(object: T, now: number): string | number | boolean | null
}

export interface Subresource<T extends KubeObject = KubeObject> {
  verbs: readonly ('get' | 'patch' | 'update')[]
  /** Brings `next` to what this subresource may change: everything else is taken from `previous`. May change `next`. */
  prepareForUpdate(next: T, previous: T, context: WriteContext): void
  validateUpdate(next: T, previous: T): FieldError[]
}

/** What making an answer may need beside the parent object. */
export interface CreateContext extends WriteContext {
  reader: ObjectReader
  random: Random
  /** Absent: service accounts have no tokens. */
  tokenIssuer?: TokenIssuer
  /** Adds a Warning header. */
  warn(text: string): void
}

/** A subresource that is only POSTed to, with a kind of its own, and not stored: serviceaccounts/token. */
export interface CreatedSubresource<T extends KubeObject = KubeObject> {
  kind: Pick<ResourceRef, 'group' | 'version' | 'kind'>
  /** Fills defaults; before admission. May change `object`. */
  prepare(object: T, parent: KubeObject, context: CreateContext): void
  validate(object: T): FieldError[]
  /** The answer. May throw ApiError. */
  create(object: T, parent: KubeObject, context: CreateContext): Promise<T>
}

/** A resource that is stored. Hooks may change the object they get first (it is the request's own copy). */
export interface StoredResource<T extends KubeObject = KubeObject> extends ResourceRef {
  stored: true
  singular: string
  shortNames: readonly string[]
  categories?: readonly string[]
  verbs: readonly Verb[]
  columns: readonly Column<T>[]
  /** Fills defaults and sets the fields that belong to the server; metadata is the core's business. */
  prepareForCreate(object: T, context: WriteContext): void
  prepareForUpdate(next: T, previous: T, context: WriteContext): void
  /** On create. Metadata is the core's business (metadata-rules.ts). */
  validate(object: T): FieldError[]
  /** On update, instead of `validate`: what `validate` demands, less what the object already had wrong. */
  validateUpdate(next: T, previous: T): FieldError[]
  /** metadata.name rule: returns complaints, as in `may not contain '/'`. */
  validateName(name: string): string[]
  subresources: Readonly<Record<string, Subresource<T>>>
  createdSubresources?: Readonly<Record<string, CreatedSubresource>>
  /** Field selectors beyond metadata.name and metadata.namespace. */
  selectableFields?: readonly { path: string; value(object: T): string }[]
  /** Whether metadata.generation counts changes of spec. */
  hasGeneration: boolean
  /** PUT to a name that is not there creates it (leases, configmaps: no; events, leases per Kubernetes: see its strategy). */
  allowCreateOnUpdate: boolean
  /** PUT without resourceVersion is allowed. */
  allowUnconditionalUpdate: boolean
  /** DELETE answers with the object that is gone, not with a Status: Kubernetes' ReturnDeletedObject. */
  returnDeletedObject?: true
  /** Seconds after the last write until it is deleted (Events: 3600). */
  timeToLiveSeconds?: number
  /**
   * A custom resource's schema of whole objects: its fields are judged by this and not by wire/openapi/types, and there
   * is no strategic merge patch of it.
   */
  structural?: StructuralSchema
  /** Text of the Warning header that every answer carries. */
  deprecation?: string
}

/** A resource that only answers: SubjectAccessReview and its kin. */
export interface ReviewResource<T extends KubeObject = KubeObject> extends ResourceRef {
  stored: false
  singular: string
  validate(object: T): FieldError[]
  /** Fills in `status`. */
  review(object: T, context: WriteContext & { access: Access; reader: ObjectReader; namespace: string }): T
}

/** Hooks are methods, so a StoredResource<Node> is a StoredResource here (method parameters are bivariant). */
export type Resource = StoredResource | ReviewResource
