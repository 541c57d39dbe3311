import { channel, tracingChannel } from 'node:diagnostics_channel'

/** What the `idlest:poll` tracing channel carries; `end` and `error` have all fields. */
export interface PollEvent {
  /** The balancer's name. */
  readonly balancer: string
  /** Cycles of this balancer so far, from 1. */
  readonly cycle: number
  /** Length of the cycle, ms; undefined at the start. */
  duration?: number
  /** Members that were asked; undefined at the start. */
  asked?: number
  /** Members whose report was stored; undefined at the start. */
  stored?: number
  /** Members that did not answer or answered wrongly; undefined at the start. */
  failed?: number
  /** What ended the cycle early, for `error`. */
  error?: unknown
}

/** One remote that could not be read. */
export interface RemoteErrorEvent {
  /** The balancer's name. */
  readonly balancer: string
  /** The node's id. */
  readonly node: string
  /** `exit`: refused, timed out or closed. `error`: a bad status, shape or value. */
  readonly kind: 'exit' | 'error'
  /** Why, in words. */
  readonly reason: string
}

/** A response carried a report that can't be used. */
export interface ReportErrorEvent {
  /** The balancer's name. */
  readonly balancer: string
  /** The node's id. */
  readonly node: string
  /** The header or trailer that it came in. */
  readonly header: string
  /** What is wrong with it. */
  readonly error: unknown
}

/** A node's report has fields that idlest does not know, misspelt or of a later version. The others were used. */
export interface UnknownFieldsEvent {
  /** The balancer's name. */
  readonly balancer: string
  /** The node's id. */
  readonly node: string
  /** The header or trailer that the report came in; undefined for one that was polled or pushed. */
  readonly header: string | undefined
  /** The first of these fields, at most 3, each with the known field whose name is nearest. Names longer than 60 are cut. */
  readonly fields: readonly { readonly name: string; readonly nearest: string }[]
}

/** A member is sent no more for a while, for what became of its requests. */
export interface MemberEjectedEvent {
  /** The balancer's name. */
  readonly balancer: string
  /** The member's id. */
  readonly node: string
  /** What it was ejected for. */
  readonly reason: 'consecutiveFailures' | 'failureRate' | 'refused'
  /** How many times in all, but for those that it was forgiven. */
  readonly times: number
  /** How long it is out, ms. */
  readonly duration: number
}

/** A member that was ejected may be picked again. */
export interface MemberReturnedEvent {
  /** The balancer's name. */
  readonly balancer: string
  /** The member's id. */
  readonly node: string
}

/** A member claims to be idle while its requests fail or slow down, or does so no longer. */
export interface MemberSuspectEvent {
  /** The balancer's name. */
  readonly balancer: string
  /** The member's id. */
  readonly node: string
  /** Whether it is suspect now. */
  readonly suspect: boolean
  /** Undefined where it is suspect no longer. */
  readonly reason: 'failing' | 'slow' | undefined
}

/** A pick that found no node. */
export interface EmptySelectEvent {
  /** The balancer's name. */
  readonly balancer: string
  /** How many members it has. */
  readonly members: number
}

/** A sample that could not be used. */
export interface SamplerErrorEvent {
  /** Whose sampler: a balancer's name, or `agent`. */
  readonly source: string
  /** What went wrong. */
  readonly error: Error
}

/** An algorithm of the user's picked what it may not, or threw where that is not passed on. */
export interface CustomErrorEvent {
  /** The balancer's name. */
  readonly balancer: string
  /** The algorithm's name. */
  readonly algorithm: string
  /** Which of its functions was at fault. */
  readonly kind: 'pick' | 'onNodeChange' | 'onRelease'
  /** What it picked, for `pick`. */
  readonly value?: unknown
  /** What it threw, for the others. */
  readonly error?: unknown
}

/** The polling thread ended and is started again. */
export interface WorkerRestartEvent {
  /** How many times it was started again, in all. */
  readonly restarts: number
  /** Wait before the start, ms. */
  readonly delay: number
  /** What the thread ended with. */
  readonly error: unknown
}

/** An exception in the polling thread that could not be put down to one node. The thread goes on. */
export interface WorkerFaultEvent {
  /** How many there were in all. */
  readonly faults: number
  /** What was thrown, in words. */
  readonly reason: string
}

/** A discovery found other nodes than before. */
export interface DiscoveryChangeEvent {
  /** The discovery's name, such as `dns:api.example`. */
  readonly discovery: string
  /** How many there are now. */
  readonly nodes: number
  /** Ids of those that came. */
  readonly added: readonly string[]
  /** Ids of those that went. */
  readonly removed: readonly string[]
}

/** A discovery looked, and what it found can't be used, or not all of it. What is known stays. */
export interface DiscoveryProblemEvent {
  /** The discovery's name, such as `dns:api.example`. */
  readonly discovery: string
  /** Which kind of problem it is, as in `DiscoveryCounters.problems`. */
  readonly kind: 'empty' | 'notFound' | 'timeout' | 'failed' | 'invalid'
  /** What is wrong, in words. */
  readonly reason: string
  /** What was thrown, where something was. */
  readonly error: unknown
}

/** The channels of node:diagnostics_channel that idlest publishes to; free when nobody listens. */
export const channels = {
  poll: tracingChannel<unknown, PollEvent>('idlest:poll'),
  remoteError: channel('idlest:poll:remote-error'),
  reportError: channel('idlest:report:error'),
  unknownFields: channel('idlest:report:unknown-fields'),
  memberEjected: channel('idlest:member:ejected'),
  memberReturned: channel('idlest:member:returned'),
  memberSuspect: channel('idlest:member:suspect'),
  selectEmpty: channel('idlest:select:empty'),
  customError: channel('idlest:custom:error'),
  samplerError: channel('idlest:sampler:error'),
  workerRestart: channel('idlest:worker:restart'),
  workerFault: channel('idlest:worker:fault'),
  discoveryChange: channel('idlest:discovery:change'),
  discoveryProblem: channel('idlest:discovery:problem'),
} as const

/** Tells of a pick that found no node. */
export function publishEmptySelect(balancer: string, members: number): void {
  if (channels.selectEmpty.hasSubscribers) {
    channels.selectEmpty.publish({ balancer, members } satisfies EmptySelectEvent)
  }
}

/** Tells of a response's report that can't be used. */
export function publishReportError(event: ReportErrorEvent): void {
  if (channels.reportError.hasSubscribers) channels.reportError.publish(event)
}

/** Tells of a member that was ejected. */
export function publishEjected(event: MemberEjectedEvent): void {
  if (channels.memberEjected.hasSubscribers) channels.memberEjected.publish(event)
}

/** Tells of a member that came back. */
export function publishReturned(event: MemberReturnedEvent): void {
  if (channels.memberReturned.hasSubscribers) channels.memberReturned.publish(event)
}

/** Tells of a member that is suspect, or is so no longer. */
export function publishSuspect(event: MemberSuspectEvent): void {
  if (channels.memberSuspect.hasSubscribers) channels.memberSuspect.publish(event)
}

/** Tells of what an algorithm of the user's did wrong. */
export function publishCustomError(event: CustomErrorEvent): void {
  if (channels.customError.hasSubscribers) channels.customError.publish(event)
}

/** Tells that a discovery found other nodes. */
export function publishDiscovered(event: DiscoveryChangeEvent): void {
  if (channels.discoveryChange.hasSubscribers) channels.discoveryChange.publish(event)
}

/** Tells that what a discovery found can't be used. */
export function publishDiscoveryProblem(event: DiscoveryProblemEvent): void {
  if (channels.discoveryProblem.hasSubscribers) channels.discoveryProblem.publish(event)
}
