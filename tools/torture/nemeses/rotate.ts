// Replaces certificates and tokens while clients work, on secured stages.
import { pick } from '@ringwright/base/random';
import { Broken, type Nemesis } from '../nemesis.ts';
import { keyspace, type Stage } from '../stage.ts';

const CERTIFICATE = 'rotation: certificate';
const TOKEN = 'rotation: token';

export const rotate: Nemesis = {
  name: 'certificates and tokens',
  planned: [CERTIFICATE, TOKEN],
  async strike(stage, random) {
    const secured = securedOf(stage);
    const name = pick(random, [CERTIFICATE, TOKEN]);
    await stage.fault(name, [], () =>
      name === TOKEN ? secured.rotateToken(keyspace) : secured.rotateCertificate(),
    );
  },
};

function securedOf({ secured }: Stage): NonNullable<Stage['secured']> {
  if (secured === null) throw new Broken('nothing to rotate on a stage without --secure');
  return secured;
}
