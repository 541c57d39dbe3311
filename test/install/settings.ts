import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The environment variable that names what `main.ts` has made ready, for the tests. */
export const WORLD = 'IDLEST_INSTALL_WORLD'

/** Writes the settings of a home folder that has all packages from this registry. */
export async function writeSettings(home: string, registry: string): Promise<void> {
  await mkdir(home, { recursive: true })
  const settings = [
    `registry=${registry}`,
    // The registry lets everybody publish, but npm does not try without a token.
    `${registry.replace('http:', '')}:_authToken=none`,
    `cache=${join(home, 'npm')}`,
    'audit=false',
    'fund=false',
    'update-notifier=false',
  ]
  await writeFile(join(home, '.npmrc'), `${settings.join('\n')}\n`)
}

/** The environment of whoever lives in a home folder: nothing of those who started this. */
export function homeEnvironment(home: string): Record<string, string> {
  const kept = ['PATH', 'SystemRoot', 'COMSPEC', 'PATHEXT', 'TEMP', 'TMP', 'TMPDIR', 'LANG'].flatMap(
    (name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value] as const]
    },
  )
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    USERPROFILE: home,
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_STATE_HOME: join(home, 'state'),
    npm_config_userconfig: join(home, '.npmrc'),
    CI: 'true',
  }
}
