/** Secrets of service accounts, from the time when tokens lay in Secrets: who mounts one takes its trust from it. */
export const serviceAccountTokenType = 'kubernetes.io/service-account-token'
