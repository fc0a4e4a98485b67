/** Exceptions to the rule that a token for a part of the organization is refused what is about the whole of it. */

const ITS_OWN = 'says who the caller is, and what it may do';

/** Operations open to an owner's token for one project and to one for one cluster, and why that shows and changes nothing outside their limits. */
export const OPEN_TO_LIMITED_TOKENS: Readonly<Record<string, string>> = {
  'GET /api/v1/me/permissions': ITS_OWN,
  'GET /api/v1/sessions/current': ITS_OWN,
  'GET /api/v1/organizations': 'shows the name of the organization, which every member knows',
  'GET /api/v1/organizations/{organizationId}':
    'shows the name of the organization, which every member knows',
  'GET /api/v1/sessions/organizations': "shows a token its own organization's name",
  'GET /api/v1/clusters': 'volumes are placed in clusters; a token for some of them sees those',
  'GET /api/v1/projects': 'volumes are put into projects; a token for some of them sees those',
  'GET /api/v1/tokens': 'shows the token itself, and those that were made with it',
  'POST /api/v1/tokens': 'the new token has the limits of the one that makes it',
  'DELETE /api/v1/sessions': 'ends the token itself',
  'GET /api/v1/events/stream':
    'follows what the token sees; a filter that can not be read is refused as such',
  'POST /api/v1/sessions/password': 'asks for the password, which allows more than any token',
};
