/** The logo of an environment, as an operator uploaded it. */
export interface EnvironmentLogoRow {
  mediaType: string;
  bytes: Buffer;
  updatedAt: number;
}
