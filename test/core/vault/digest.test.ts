import { createSecretKey } from 'node:crypto';
import { expect } from 'chai';
import { Secret } from '../../../core/secret.ts';
import { deploymentKey, mintDeploymentSecret } from '../../../core/vault/deployment-secret.ts';
import { createDigester } from '../../../core/vault/digest.ts';
import { seededRandom } from './support.ts';

const digester = createDigester(createSecretKey(Buffer.alloc(32, 1)));

describe('keyed digests', () => {
  it('are 32 bytes, the same for the same value', () => {
    expect(digester.digest('purpose', 'value')).to.have.length(32).and.deep.equal(digester.digest('purpose', 'value'));
  });

  it('differ by value, purpose, division into parts, and key', () => {
    const other = createDigester(createSecretKey(Buffer.alloc(32, 2)));
    const digests = [
      digester.digest('purpose', 'value'),
      digester.digest('purpose', 'Value'),
      digester.digest('purposes', 'value'),
      digester.digest('purpose', 'val', 'ue'),
      digester.digest('purpose'),
      other.digest('purpose', 'value'),
    ];
    expect(new Set(digests.map((digest) => digest.toString('hex'))).size).to.equal(digests.length);
  });

  it('are equal only when both are valid digests and identical', () => {
    const digest = digester.digest('purpose', 'value');
    expect(digester.equal(digest, Buffer.from(digest))).to.equal(true);
    expect(digester.equal(digest, digester.digest('purpose', 'other'))).to.equal(false);
    expect(digester.equal(digest, digest.subarray(0, 31))).to.equal(false);
    expect(digester.equal(digest.subarray(0, 31), digest.subarray(0, 31))).to.equal(false);
    expect(digester.equal(Buffer.alloc(0), Buffer.alloc(0))).to.equal(false);
  });
});

describe('a deployment secret', () => {
  it('is generated as 32 bytes and read as a key', () => {
    const secret = mintDeploymentSecret(seededRandom());
    expect(secret.reveal()).to.have.length(43);
    expect(deploymentKey(secret).export()).to.deep.equal(seededRandom()(32));
  });

  it('is refused with any other length', () => {
    for (const text of ['', 'AAAA', 'A'.repeat(44)])
      expect(() => deploymentKey(new Secret(text)), text).to.throw(TypeError);
  });
});
