import { ApiError } from '../errors.ts';

/** Such as eu-central-1 or us-gov-west-1. It becomes part of a host name. */
const REGION = /^[a-z]{2}(?:-[a-z]{2,12}){1,3}-\d{1,2}$/;

/** Where roles are assumed in a region. */
export function tokenServiceEndpoint(region: string): URL {
  return endpoint('sts', region);
}

/** Where statements are given to the data warehouses of a region. */
export function warehouseEndpoint(region: string): URL {
  return endpoint('redshift-data', region);
}

/** @throws ApiError INVALID_API_CONFIG for a text that is no region */
function endpoint(service: string, region: string): URL {
  if (!REGION.test(region)) {
    const field = 'connected_account.api_config.region';
    throw new ApiError('INVALID_API_CONFIG', 'The account names no region of the cloud.', {
      errors: [{ field, message: 'must be a region such as eu-central-1' }],
    });
  }
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return new URL(`https://${service}.${region}.${suffix}/`);
}
