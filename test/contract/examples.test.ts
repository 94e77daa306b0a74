import { expect } from 'chai';
import type { JsonObject } from '../../scripts/openapi-document.ts';
import { bodiesOf, eventsOf, objectAt, operationsOf, parametersOf, resolve } from '../../scripts/openapi-document.ts';
import { walkSchemas } from '../../scripts/walk-schemas.ts';
import { compile, contract, directionOf } from './contract.ts';

describe('schemas of the contract', () => {
  it('compile in strict mode for requests and for responses, each separately', () => {
    const pointers = [...walkSchemas(contract)].map(({ schema, pointer }) => {
      compile(schema, 'request');
      compile(schema, 'response');
      return pointer;
    });
    expect(pointers.length).to.be.greaterThan(500);
  });
});

describe('examples of the contract', () => {
  for (const operation of operationsOf(contract)) {
    it(`fit the bodies of ${operation.id}`, () => {
      for (const body of bodiesOf(contract, operation)) {
        const validate = compile(body.media['schema'], directionOf(body));
        for (const [name, reference] of Object.entries(objectAt(body.media, 'examples'))) {
          validate(resolve(contract, reference)['value']);
          expect(validate.errors, `${body.side} ${name}`).to.equal(null);
        }
      }
    });
  }

  it('fit the events', () => {
    const events = eventsOf(contract);
    expect(events.length).to.be.greaterThan(30);
    for (const { type, media } of events) {
      const validate = compile(media['schema'], 'response');
      const values = Object.values(objectAt(media, 'examples')).map(
        (one) => (one as JsonObject)['value'] as JsonObject,
      );
      for (const value of values) {
        validate({ ...value, data: { ...(value['data'] as JsonObject), undeclared: true } });
        expect(validate.errors, `${type} with an undeclared member`).not.to.equal(null);
        validate(value);
        expect(validate.errors, type).to.equal(null);
      }
    }
  });

  it('fit their parameters', () => {
    for (const operation of operationsOf(contract)) {
      for (const parameter of parametersOf(contract, operation)) {
        const validate = compile(parameter['schema'], 'request');
        validate(parameter['example']);
        expect(validate.errors, `${operation.id} ${parameter['name']}`).to.equal(null);
      }
    }
  });

  it('fit their headers', () => {
    for (const [name, header] of Object.entries(objectAt(objectAt(contract, 'components'), 'headers'))) {
      const validate = compile((header as JsonObject)['schema'], 'response');
      validate((header as JsonObject)['example']);
      expect(validate.errors, name).to.equal(null);
    }
  });

  it('of problems have the status that they are listed under', () => {
    for (const operation of operationsOf(contract)) {
      for (const { side, mediaType, media } of bodiesOf(contract, operation)) {
        if (mediaType !== 'application/problem+json') continue;
        for (const reference of Object.values(objectAt(media, 'examples'))) {
          const problem = resolve(contract, reference)['value'] as JsonObject;
          expect(String(problem['status']), `${operation.id} ${problem['code']}`).to.equal(side);
        }
      }
    }
  });
});
