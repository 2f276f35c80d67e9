// The machine of a benchmark run, as shown in its output.
import os from 'node:os';

export const machine = {
  cpu: os.cpus()[0]?.model ?? 'unknown',
  cores: os.availableParallelism(),
  memoryBytes: os.totalmem(),
  platform: `${os.platform()} ${os.arch()}`,
  node: process.version,
};
