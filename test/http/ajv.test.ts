import { expect } from 'chai';
import { createAjv } from '../../http/validation/ajv.ts';

const META_SCHEMA = 'https://json-schema.org/draft/2020-12/schema';

describe('the validators of the contract', () => {
  it('compile without the meta-schema, and still reject what a schema rejects', () => {
    const ajv = createAjv('request', 'first');
    const validate = ajv.compile({ type: 'object', properties: { name: { type: 'string', maxLength: 3 } } });
    expect([validate({ name: 'abcd' }), validate({ name: 'abc' })]).to.deep.equal([false, true]);
    expect(ajv.schemas[META_SCHEMA]?.validate).to.equal(undefined);
  });

  it('still reject a schema with a word that is not defined', () => {
    expect(() => createAjv('request', 'first').compile({ type: 'object', propertys: {} })).to.throw('unknown keyword');
  });
});
