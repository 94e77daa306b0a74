import { createRequire } from 'node:module';
import { expect } from 'chai';

describe('loading the MCP packages', () => {
  for (const name of ['@modelcontextprotocol/server', '@modelcontextprotocol/client']) {
    it(`finds the large part that was loaded before them: ${name} uses the zod of package.json`, () => {
      const ours = createRequire(import.meta.url).resolve('zod/v4');
      expect(createRequire(import.meta.resolve(name)).resolve('zod/v4')).to.equal(ours);
    });
  }
});
