// Opens the data directory named on the command line in a separate process. Prints `opened` or the
// code of the error.
import { openStore } from '../../src/open-store.ts';

const directory = process.argv[2] ?? '';
try {
  const store = await openStore({ directory, newIncarnation: () => 'unused' });
  await store.close();
  process.stdout.write('opened');
} catch (error) {
  process.stdout.write(error instanceof Error && 'code' in error ? String(error.code) : 'failed');
}
