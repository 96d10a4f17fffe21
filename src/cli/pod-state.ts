/** Where the agent keeps the state and logs of its static pods, and where `rollcall pods` looks. */
export const defaultPodState = '/var/lib/rollcall/static-pods'
