// What this machine shows to a head store: paths and a name, never a secret itself.
import { resolve } from 'node:path';
import { z } from 'zod';

/** Paths are absolute: they are remembered, and commands are typed in many folders. */
export const storeAccessSchema = z.strictObject({
  /** Certificate of the authority that signed the members' certificates (PEM). */
  ca: z.string().optional(),
  /** Certificate and key that the members ask for (PEM). */
  cert: z.string().optional(),
  key: z.string().optional(),
  user: z.string().optional(),
  passwordFile: z.string().optional(),
});
export type StoreAccess = z.infer<typeof storeAccessSchema>;

/** Under these names in options; in the environment RINGWRIGHT_STORE_CA and so on. */
const storeAccessNames = {
  ca: 'store-ca',
  cert: 'store-cert',
  key: 'store-key',
  passwordFile: 'store-password-file',
} as const;

/** What was given, options before the environment; paths made absolute. */
export function storeAccessOf(
  option: (name: string) => string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): StoreAccess {
  const found = Object.entries(storeAccessNames).flatMap(([field, name]) => {
    const variable = `RINGWRIGHT_${name.toUpperCase().replaceAll('-', '_')}`;
    const given = option(name) ?? env[variable];
    return given === undefined ? [] : [[field, resolve(given)]];
  });
  const user = env['RINGWRIGHT_STORE_USER'];
  return { ...Object.fromEntries(found), ...(user === undefined ? {} : { user }) };
}

/** Of a store that asks for nothing. */
export const openAccess: StoreAccess = {};
