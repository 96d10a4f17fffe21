import { useEffect, useState } from 'preact/hooks'
import { call } from '../session.ts'

export interface Loaded<T> {
  value?: T
  error?: string
  loading: boolean
  again(): void
}

/** What a call gives; asked anew when `path` or `version` changes. What was there stays until the new one is. */
export function useLoaded<T>(path: string, version: unknown = 0): Loaded<T> {
  const [state, setState] = useState<{ path: string; value?: T; error?: string; loading: boolean }>({
    path,
    loading: true,
  })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    let current = true
    setState(before => ({ ...(before.path === path ? before : {}), path, loading: true }))
    call<T>(path).then(
      value => current && setState({ path, value, loading: false }),
      error => current && setState({ path, error: String(error.message ?? error), loading: false }),
    )
    return () => {
      current = false
    }
  }, [path, version, turn])
  const known = state.path === path ? state : { loading: true }
  return { ...known, again: () => setTurn(turn + 1) }
}
