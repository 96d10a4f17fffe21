/** What the page calls, below /dashboard/api/: who is it, may he see it, do it. */
import { allChecks } from '../doctor/all-checks.ts'
import { diagnose } from '../doctor/diagnose.ts'
import { gatherCluster } from '../doctor/gather/gather-cluster.ts'
import type { ApiRequest, ApiResponse, Peer } from '../kube/transport.ts'
import type { UserInfo } from '../kube/types.ts'
import { securityHeaders } from './access/security-headers.ts'
import type { Sessions } from './access/sessions.ts'
import { identityOf, mayDo, type Viewer, viewerOf } from './access/viewer.ts'
import { answerJson, refuse } from './answers.ts'
import type { DashboardOptions } from './dashboard.ts'
import type { FleetBoard } from './fleet/board.ts'
import { fleetStream } from './fleet/stream.ts'
import { nodeDetail } from './node-detail.ts'
import { recentDecisions } from './recent-decisions.ts'
import { decideRequest, readOrder } from './requests/decide-request.ts'
import { showRequest } from './requests/show-request.ts'
import { readRotations } from './rotations.ts'

export interface Calls extends DashboardOptions {
  sessions: Sessions
  board: FleetBoard
  doctorRuns: { underWay: number }
}

interface Call {
  calls: Calls
  request: ApiRequest
  viewer: Viewer
  user: UserInfo
  /** What the path names. */
  name: string
}

type Answer = (call: Call) => Promise<ApiResponse>

/** By method and path; NAME stands for one part of a path. */
const answers: Readonly<Record<string, Answer>> = {
  'POST links': makeLink,
  'GET me': async ({ viewer, user }) => answerJson(200, describeViewer(viewer, user)),
  'POST session/renew': async ({ calls, viewer, user }) => {
    if (viewer.session) calls.sessions.renew(viewer.session.state)
    return answerJson(200, describeViewer(viewer, user))
  },
  'POST session/end': async ({ calls, viewer }) => {
    if (viewer.session) calls.sessions.close(viewer.session.token)
    return answerJson(200, {})
  },
  'GET fleet': watchFleet,
  'GET nodes/NAME': async ({ calls, viewer, user, name }) => {
    const refusal = await fleetRefusal(viewer, user)
    if (refusal) return refuse(403, refusal)
    const node = await nodeDetail(viewer, calls.board, name)
    return node ? answerJson(200, node) : refuse(404, `There is no node ${JSON.stringify(name)}.`)
  },
  'GET requests/NAME': async ({ calls, viewer, name }) =>
    answerJson(200, await showRequest(viewer, name, calls.clock.now())),
  'POST requests/NAME/approve': call => decide(call, 'approve'),
  'POST requests/NAME/deny': call => decide(call, 'deny'),
  'GET rotations': async ({ calls, viewer }) =>
    answerJson(200, await readRotations(viewer, calls.clock.now())),
  'GET doctor': runDoctor,
  'GET decisions': listDecisions,
}

export async function answerCall(
  calls: Calls,
  request: ApiRequest,
  peer: Peer,
  path: string,
): Promise<ApiResponse> {
  if (request.method === 'POST' && path === 'sessions') return openSession(calls, request)
  const viewer = viewerOf(request, peer, calls)
  if (!viewer) return refuse(401, 'This session is over; run rollcall dashboard for a new link.')
  const user = await identityOf(viewer)
  if (user.username === 'system:anonymous')
    return refuse(401, 'Log in with the link that rollcall dashboard prints.')
  const [template, name] = templateOf(path)
  const key = `${request.method} ${template}`
  const answer = Object.hasOwn(answers, key) ? answers[key] : undefined
  if (!answer) return refuse(404, 'there is no such call')
  return answer({ calls, request, viewer, user, name })
}

function templateOf(path: string): [template: string, name: string] {
  const [first = '', name = '', ...rest] = path.split('/')
  if (first !== 'nodes' && first !== 'requests') return [path, '']
  return [[first, 'NAME', ...rest].join('/'), decodeName(name)]
}

function decodeName(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Bytes: our own bodies are a reason and a uid. */
const mostBody = 16 * 1024

/** The JSON object of the body. A form cannot send this media type, so no foreign page can either. */
function bodyOf({ headers, body }: ApiRequest): Record<string, unknown> | undefined {
  if (!/^application\/json(?:;|$)/.test(headers['content-type'] ?? '')) return undefined
  if (!body || body.length > mostBody) return undefined
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

const notJson = () => refuse(400, 'the body must be a JSON object')

async function openSession({ sessions, api }: Calls, request: ApiRequest): Promise<ApiResponse> {
  const { key } = bodyOf(request) ?? {}
  const opened = typeof key === 'string' ? sessions.open(key) : undefined
  if (!opened)
    return refuse(
      401,
      'This link was used already, or is older than two minutes; run rollcall dashboard again.',
    )
  const { token } = opened
  const viewer = viewerOf(
    { ...request, headers: { authorization: `Bearer ${token}` } },
    { remoteAddress: '' },
    { api, sessions },
  )
  if (!viewer) return refuse(401, 'The session could not be opened.')
  return answerJson(200, { token, ...describeViewer(viewer, await identityOf(viewer)) })
}

function describeViewer({ session }: Viewer, { username, groups = [] }: UserInfo) {
  return {
    user: username,
    groups,
    ...(session && { expires: session.state.expires, last: session.state.last }),
  }
}

/** A session makes no links: it would go on for ever. */
async function makeLink({ calls, viewer, user }: Call): Promise<ApiResponse> {
  if (viewer.session) return refuse(403, 'a link is made with a credential for the API, not with a session')
  const { key, expires } = calls.sessions.link(viewer.credential, user.username)
  return answerJson(201, { url: `${calls.url()}#key=${key}`, expires, user: user.username })
}

/** The sentence why the viewer may not see the fleet. */
async function fleetRefusal(viewer: Viewer, user: UserInfo): Promise<string | undefined> {
  const [nodes, requests] = await Promise.all([
    mayDo(viewer, { resource: 'nodes', verb: 'list' }),
    mayDo(viewer, { group: 'certificates.k8s.io', resource: 'certificatesigningrequests', verb: 'list' }),
  ])
  if (nodes && requests) return undefined
  const lacking = [...(nodes ? [] : ['nodes']), ...(requests ? [] : ['certificatesigningrequests'])]
  return `User ${JSON.stringify(user.username)} may not list ${lacking.join(' and ')}; ClusterRole rollcall-viewer allows it.`
}

async function watchFleet({ calls, request, viewer, user }: Call): Promise<ApiResponse> {
  const refusal = await fleetRefusal(viewer, user)
  if (refusal) return refuse(403, refusal)
  const { board, clock } = calls
  const ended = async () => {
    if (viewer.session && !calls.sessions.find(viewer.session.token)) return 'The session is over.'
    return fleetRefusal(viewer, await identityOf(viewer))
  }
  const signal = request.signal ?? new AbortController().signal
  return {
    status: 200,
    headers: { ...securityHeaders, 'content-type': 'application/x-ndjson' },
    body: fleetStream({ board, clock, signal, ended }),
  }
}

async function decide(
  { calls, request, viewer, user, name }: Call,
  verdict: 'approve' | 'deny',
): Promise<ApiResponse> {
  const body = bodyOf(request)
  if (!body) return notJson()
  const order = readOrder(verdict, body)
  if (typeof order === 'string') return refuse(400, order)
  const decision = await decideRequest({ ...viewer, username: user.username }, name, order, calls.clock.now())
  if (!decision) return refuse(409, 'Another request has this name now; look at it before you decide.')
  if (decision.outcome === 'refuse') return refuse(422, decision.why)
  return answerJson(200, { outcome: decision.outcome })
}

/** Runs at one time: each reads the whole cluster. */
const mostDoctors = 2

async function runDoctor({ calls, viewer }: Call): Promise<ApiResponse> {
  const { doctorRuns, clock, lookAtTls } = calls
  if (doctorRuns.underWay >= mostDoctors)
    return refuse(429, 'Others are being examined; try again in a moment.')
  doctorRuns.underWay++
  try {
    const server = calls.server()
    const artifacts = await gatherCluster(
      { client: viewer.client, server, probe: false },
      { clock, lookAtTls },
    )
    return answerJson(200, diagnose(server, artifacts, clock.now(), allChecks))
  } finally {
    doctorRuns.underWay--
  }
}

const shownDecisions = 300

/** Each decision is about a request, so who may list those may see them. */
async function listDecisions({ calls, viewer, user }: Call): Promise<ApiResponse> {
  const refusal = await fleetRefusal(viewer, user)
  if (refusal) return refuse(403, refusal)
  if (!calls.decisionLog) return answerJson(200, { kept: false, decisions: [], broken: 0 })
  return answerJson(200, {
    kept: true,
    ...(await recentDecisions(calls.decisionLog, calls.disk, shownDecisions)),
  })
}
