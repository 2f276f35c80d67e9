// What this machine uses to access a head store: paths and a user name, never a secret itself.
import { resolve } from 'node:path';
import { z } from 'zod';

/** Paths are absolute: they are remembered, and commands are typed in many folders. */
export const storeAccessSchema = z.strictObject({
  /** Certificate of the authority that signed the members' certificates (PEM). */
  ca: z.string().optional(),
  /** Client certificate and key for members that require them (PEM). */
  cert: z.string().optional(),
  key: z.string().optional(),
  user: z.string().optional(),
  passwordFile: z.string().optional(),
});
export type StoreAccess = z.infer<typeof storeAccessSchema>;

/** Names of the options; in the environment RINGWRIGHT_STORE_CA and so on. */
const storeAccessNames = {
  ca: 'store-ca',
  cert: 'store-cert',
  key: 'store-key',
  passwordFile: 'store-password-file',
} as const;

/** Collects the settings, options before the environment; makes paths absolute. */
export function storeAccessOf(
  option: (name: string) => string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): StoreAccess {
  const found = Object.entries(storeAccessNames).flatMap(([field, name]) => {
    const variable = `RINGWRIGHT_${name.toUpperCase().replaceAll('-', '_')}`;
    const path = option(name) ?? env[variable];
    return path === undefined ? [] : [[field, resolve(path)]];
  });
  const user = env['RINGWRIGHT_STORE_USER'];
  return { ...Object.fromEntries(found), ...(user === undefined ? {} : { user }) };
}

/** For a store that requires nothing. */
export const openAccess: StoreAccess = {};
