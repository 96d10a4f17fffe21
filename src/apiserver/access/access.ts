/**
 * Who is it, may it, and is the write in order: the door between the request handler and access/. All decisions are
 * synchronous and pure functions of the current objects, the request and the clock.
 */
import type { ApiRequest, Peer } from '../../kube/transport.ts'
import type { KubeObject, PolicyRule, UserInfo } from '../../kube/types.ts'

/** What is asked for, as Kubernetes' authorizer.Attributes. */
export interface Attributes {
  user: UserInfo
  /** create, get, list, watch, update, patch, delete, deletecollection, or any other word (approve, sign, impersonate). */
  verb: string
  /** For resources: */
  group?: string
  version?: string
  resource?: string
  subresource?: string
  namespace?: string
  name?: string
  fieldSelector?: string
  /** For paths that are no resource, e.g. `/healthz`. */
  path?: string
}

export interface Decision {
  allowed: boolean
  /** Why, where the authorizer tells (RBAC's `RBAC: allowed by ClusterRoleBinding …`, empty for no opinion). */
  reason: string
}

/** The user in force, and the real one where it was impersonated (both go to the audit log). */
export interface Identity {
  user: UserInfo
  impersonatedBy?: UserInfo
}

/** What a bearer token stands for, and for which of the audiences asked for; or why it stands for nobody. */
export type TokenVerdict =
  | { ok: true; user: UserInfo; audiences: readonly string[] }
  | { ok: false; reason: string }

export interface AdmissionRequest {
  operation: 'CREATE' | 'UPDATE' | 'DELETE'
  group: string
  version: string
  resource: string
  subresource: string
  namespace: string
  name: string
  /** Absent on DELETE. */
  object?: KubeObject
  /** Absent on CREATE. */
  oldObject?: KubeObject
  user: UserInfo
}

export interface Access {
  /**
   * x509, then bearer tokens, then anonymous, then impersonation. Throws ApiError 401 or, for a refused
   * impersonation, 403.
   */
  authenticate(request: ApiRequest, peer: Peer): Identity
  /** Node authorizer, then RBAC; system:masters may everything. */
  authorize(attributes: Attributes): Decision
  /** Throws ApiError 403 with Kubernetes' text when not allowed. */
  requireAllowed(attributes: Attributes): void
  /** What SelfSubjectRulesReview answers. */
  rulesFor(
    user: UserInfo,
    namespace: string,
  ): {
    resourceRules: PolicyRule[]
    nonResourceRules: PolicyRule[]
    incomplete: boolean
    evaluationError?: string
  }
  /** TokenReview: whom a bearer token stands for; without audiences, towards the API server itself. */
  authenticateToken(token: string, audiences?: readonly string[]): TokenVerdict
  /** Admission plug-ins in Kubernetes' order and RBAC's escalation checks; throws ApiError 403. */
  admit(request: AdmissionRequest): void
  /** The client CAs (PEM) that x509 verifies against may change at run time; identities are re-verified (generation). */
  setClientCertificateAuthorities(pem: string): void
}
