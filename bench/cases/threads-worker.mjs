// Node 20 does not hand `--import tsx` on to worker threads.
import { register } from 'tsx/esm/api'

register()
await import('./threads-worker.ts')
