/** Words that synthetic tools and requests are made of. Ours; names of places are facts. Long enough that a tool's name rarely comes twice. */
export const VERBS = [
  'arrange', 'assign', 'audit', 'collect', 'compare', 'dispatch', 'estimate', 'export', 'forecast', 'inspect', 'log', 'order', 'plan', 'prepare', 'quote', 'register', 'renew', 'report', 'reserve',
  'review', 'route', 'schedule', 'split', 'submit', 'track', 'update', 'verify',
] as const;

export const MODIFIERS = [
  'annual', 'batch', 'branch', 'client', 'clinic', 'coastal', 'corporate', 'field', 'fleet', 'garden', 'group', 'guest', 'harbour', 'hostel', 'lab', 'library', 'market', 'member', 'museum', 'night',
  'office', 'orchard', 'partner', 'pilot', 'plant', 'rental', 'school', 'site', 'stage', 'studio', 'summer', 'supplier', 'team', 'theatre', 'tenant', 'vendor', 'warehouse', 'workshop',
] as const;

export const NOUNS = [
  'appointment', 'badge', 'booking', 'catering', 'cleaning', 'consignment', 'course', 'crate', 'deposit', 'drill', 'exhibit', 'exercise', 'feedback', 'fitting', 'grant', 'handover', 'inspection',
  'intake', 'inventory', 'invoice', 'lease', 'lesson', 'maintenance', 'meal', 'measurement', 'parcel', 'permit', 'pickup', 'placement', 'printing', 'rehearsal', 'repair', 'roster', 'sample', 'seating',
  'shift', 'shipment', 'survey', 'tasting', 'ticket', 'tour', 'transfer', 'upgrade', 'visit', 'workout',
] as const;

/** City, state, its postal abbreviation. */
export const CITIES: readonly (readonly [string, string, string])[] = [
  ['Albany', 'New York', 'NY'], ['Anchorage', 'Alaska', 'AK'], ['Ann Arbor', 'Michigan', 'MI'], ['Asheville', 'North Carolina', 'NC'], ['Bangor', 'Maine', 'ME'], ['Baton Rouge', 'Louisiana', 'LA'],
  ['Bellingham', 'Washington', 'WA'], ['Bend', 'Oregon', 'OR'], ['Billings', 'Montana', 'MT'], ['Boise', 'Idaho', 'ID'], ['Boulder', 'Colorado', 'CO'], ['Burlington', 'Vermont', 'VT'],
  ['Charleston', 'South Carolina', 'SC'], ['Chattanooga', 'Tennessee', 'TN'], ['Cheyenne', 'Wyoming', 'WY'], ['Dayton', 'Ohio', 'OH'], ['Des Moines', 'Iowa', 'IA'], ['Duluth', 'Minnesota', 'MN'],
  ['El Paso', 'Texas', 'TX'], ['Fargo', 'North Dakota', 'ND'], ['Flagstaff', 'Arizona', 'AZ'], ['Fresno', 'California', 'CA'], ['Galveston', 'Texas', 'TX'], ['Gary', 'Indiana', 'IN'],
  ['Hartford', 'Connecticut', 'CT'], ['Hilo', 'Hawaii', 'HI'], ['Jackson', 'Mississippi', 'MS'], ['Lexington', 'Kentucky', 'KY'], ['Little Rock', 'Arkansas', 'AR'], ['Madison', 'Wisconsin', 'WI'],
  ['Mobile', 'Alabama', 'AL'], ['Nashua', 'New Hampshire', 'NH'], ['Omaha', 'Nebraska', 'NE'], ['Peoria', 'Illinois', 'IL'], ['Provo', 'Utah', 'UT'], ['Reno', 'Nevada', 'NV'], ['Roanoke', 'Virginia', 'VA'],
  ['Santa Fe', 'New Mexico', 'NM'], ['Savannah', 'Georgia', 'GA'], ['Scranton', 'Pennsylvania', 'PA'], ['Tallahassee', 'Florida', 'FL'], ['Topeka', 'Kansas', 'KS'], ['Trenton', 'New Jersey', 'NJ'],
  ['Tulsa', 'Oklahoma', 'OK'], ['Wheeling', 'West Virginia', 'WV'], ['Worcester', 'Massachusetts', 'MA'],
];

export const GIVEN_NAMES = [
  'Adaeze', 'Agnes', 'Amina', 'Anselm', 'Arjun', 'Astrid', 'Bao', 'Beatriz', 'Bruno', 'Chiara', 'Cosmin', 'Dalia', 'Edda', 'Emeka', 'Farid', 'Femke', 'Goran', 'Hana', 'Ines', 'Ismail', 'Jolanta',
  'Kaito', 'Kerstin', 'Lamia', 'Leandro', 'Maeve', 'Mirela', 'Nadia', 'Nuno', 'Odile', 'Oskar', 'Priya', 'Quentin', 'Ramona', 'Rohan', 'Saskia', 'Selim', 'Tamsin', 'Teodor', 'Ulrike', 'Viggo', 'Wanda', 'Yusra', 'Zoran',
] as const;

export const FAMILY_NAMES = [
  'Abara', 'Bergström', 'Castellani', 'Dvořák', 'Eze', 'Fairweather', 'Grünwald', 'Haddad', 'Ibarra', 'Jansen', 'Kowalska', 'Lindqvist', 'Moreau', 'Nakagawa', 'Okafor', 'Petrov', 'Quispe', 'Rahman',
  'Silvestri', 'Thackeray', 'Uchida', 'Varga', 'Whitlock', 'Yilmaz', 'Zielinski',
] as const;

export const THINGS = [
  'anvil', 'apron', 'basil', 'bolt', 'brush', 'candle', 'canvas', 'chisel', 'cone', 'drum', 'easel', 'filter', 'flask', 'funnel', 'gasket', 'glove', 'goggle', 'hinge', 'hose', 'kettle', 'ladle', 'lamp',
  'lantern', 'mug', 'nozzle', 'paddle', 'pipette', 'pulley', 'quilt', 'rope', 'sieve', 'spade', 'stapler', 'tarp', 'tripod', 'valve', 'vase', 'whisk', 'wrench', 'yoke',
] as const;

export const STREETS = ['Alder Lane', 'Birch Road', 'Chapel Street', 'Dock Street', 'Elm Row', 'Foundry Lane', 'Glebe Road', 'Hazel Close', 'Kiln Street', 'Mill Lane', 'Orchard Way', 'Quarry Road', 'Station Road', 'Tanner Street', 'Wharf Road'] as const;

export const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'] as const;

/** Choices of an enumeration, with the words that ask for each. */
export const CHOICES: readonly { readonly name: string; readonly about: string; readonly values: readonly (readonly [string, string])[] }[] = [
  { name: 'priority', about: 'How urgent it is', values: [['low', 'with low priority'], ['normal', 'with normal priority'], ['high', 'with high priority'], ['urgent', 'as an urgent matter']] },
  { name: 'size', about: 'Size class', values: [['S', 'in a small size'], ['M', 'in a medium size'], ['L', 'in a large size'], ['XL', 'in an extra large size']] },
  { name: 'frequency', about: 'How often', values: [['once', 'only once'], ['daily', 'every day'], ['weekly', 'every week'], ['monthly', 'every month'], ['quarterly', 'every three months']] },
  { name: 'payment_method', about: 'How it is paid', values: [['credit_card', 'paid by credit card'], ['bank_transfer', 'paid by bank transfer'], ['cash', 'paid in cash'], ['voucher', 'paid with a voucher']] },
  { name: 'language', about: 'ISO 639-1 code of the language', values: [['de', 'in German'], ['fr', 'in French'], ['pt', 'in Portuguese'], ['sv', 'in Swedish'], ['ja', 'in Japanese']] },
  { name: 'channel', about: 'How to notify', values: [['email', 'with a notice by email'], ['sms', 'with a notice by text message'], ['post', 'with a notice by letter'], ['none', 'without any notice']] },
  { name: 'level', about: 'Level of difficulty', values: [['beginner', 'for beginners'], ['intermediate', 'at an intermediate level'], ['advanced', 'for advanced people']] },
  { name: 'unit', about: 'Unit of measurement', values: [['kg', 'counted in kilograms'], ['lb', 'counted in pounds'], ['m3', 'counted in cubic metres'], ['pallet', 'counted in pallets']] },
  { name: 'layout', about: 'How the room is set', values: [['u_shape', 'in a U shape'], ['classroom', 'in rows like a classroom'], ['round_tables', 'with round tables'], ['standing', 'without seats']] },
  { name: 'currency', about: 'ISO 4217 code of the currency', values: [['EUR', 'in euros'], ['CHF', 'in Swiss francs'], ['SEK', 'in Swedish kronor'], ['JPY', 'in yen'], ['USD', 'in US dollars']] },
];

export const FLAGS: readonly (readonly [name: string, about: string, yes: string, no: string])[] = [
  ['gift_wrap', 'Whether to wrap it', 'with gift wrapping', 'without gift wrapping'], ['refundable', 'Whether it can be cancelled', 'refundable', 'not refundable'],
  ['wheelchair_access', 'Whether step-free access is needed', 'with wheelchair access', 'no wheelchair access needed'], ['insured', 'Whether insurance is taken', 'insured', 'without insurance'],
  ['notify', 'Whether everybody is told', 'and tell everybody', 'and tell nobody'], ['public', 'Whether others may see it', 'visible to all', 'kept private'], ['overnight', 'Whether it goes on over night', 'over night', 'not over night'],
];

export const OPENINGS = ['Please', 'Can you', 'I need you to', 'Could you', 'Go ahead and', 'We have to', 'I want to', 'Kindly'] as const;

/** Large cities of the United States, which people name without their state, and its postal abbreviation. */
export const BIG_CITIES: readonly (readonly [string, string])[] = [
  ['Atlanta', 'GA'], ['Austin', 'TX'], ['Baltimore', 'MD'], ['Berkeley', 'CA'], ['Boston', 'MA'], ['Buffalo', 'NY'], ['Chicago', 'IL'], ['Cincinnati', 'OH'], ['Cleveland', 'OH'], ['Columbus', 'OH'],
  ['Dallas', 'TX'], ['Denver', 'CO'], ['Detroit', 'MI'], ['Fort Worth', 'TX'], ['Honolulu', 'HI'], ['Houston', 'TX'], ['Indianapolis', 'IN'], ['Kansas City', 'MO'], ['Las Vegas', 'NV'], ['Los Angeles', 'CA'],
  ['Louisville', 'KY'], ['Memphis', 'TN'], ['Miami', 'FL'], ['Milwaukee', 'WI'], ['Minneapolis', 'MN'], ['Nashville', 'TN'], ['New Orleans', 'LA'], ['New York', 'NY'], ['Oakland', 'CA'], ['Orlando', 'FL'],
  ['Palo Alto', 'CA'], ['Philadelphia', 'PA'], ['Phoenix', 'AZ'], ['Pittsburgh', 'PA'], ['Portland', 'OR'], ['Raleigh', 'NC'], ['Sacramento', 'CA'], ['Salt Lake City', 'UT'], ['San Antonio', 'TX'],
  ['San Diego', 'CA'], ['San Francisco', 'CA'], ['San Jose', 'CA'], ['Seattle', 'WA'], ['St. Louis', 'MO'], ['Tampa', 'FL'], ['Tucson', 'AZ'],
];

/** City, country, its ISO 3166-1 code. */
export const WORLD_CITIES: readonly (readonly [string, string, string])[] = [
  ['Accra', 'Ghana', 'GH'], ['Athens', 'Greece', 'GR'], ['Auckland', 'New Zealand', 'NZ'], ['Bangkok', 'Thailand', 'TH'], ['Berlin', 'Germany', 'DE'], ['Bogotá', 'Colombia', 'CO'], ['Brussels', 'Belgium', 'BE'],
  ['Buenos Aires', 'Argentina', 'AR'], ['Cairo', 'Egypt', 'EG'], ['Copenhagen', 'Denmark', 'DK'], ['Dublin', 'Ireland', 'IE'], ['Hanoi', 'Vietnam', 'VN'], ['Helsinki', 'Finland', 'FI'], ['Istanbul', 'Turkey', 'TR'],
  ['Jakarta', 'Indonesia', 'ID'], ['Lagos', 'Nigeria', 'NG'], ['Lima', 'Peru', 'PE'], ['Lisbon', 'Portugal', 'PT'], ['Ljubljana', 'Slovenia', 'SI'], ['Madrid', 'Spain', 'ES'], ['Manila', 'Philippines', 'PH'],
  ['Melbourne', 'Australia', 'AU'], ['Mumbai', 'India', 'IN'], ['Nairobi', 'Kenya', 'KE'], ['Oslo', 'Norway', 'NO'], ['Paris', 'France', 'FR'], ['Prague', 'Czech Republic', 'CZ'], ['Quito', 'Ecuador', 'EC'],
  ['Riga', 'Latvia', 'LV'], ['Rome', 'Italy', 'IT'], ['Santiago', 'Chile', 'CL'], ['Seoul', 'South Korea', 'KR'], ['Shanghai', 'China', 'CN'], ['Stockholm', 'Sweden', 'SE'], ['Tokyo', 'Japan', 'JP'],
  ['Toronto', 'Canada', 'CA'], ['Vienna', 'Austria', 'AT'], ['Warsaw', 'Poland', 'PL'], ['Zurich', 'Switzerland', 'CH'],
];

export const COLOURS: readonly (readonly [string, string])[] = [
  ['black', '#000000'], ['white', '#ffffff'], ['red', '#ff0000'], ['blue', '#0000ff'], ['yellow', '#ffff00'], ['cyan', '#00ffff'], ['magenta', '#ff00ff'], ['navy', '#000080'], ['maroon', '#800000'],
];

export const DISHES = [
  'almonds', 'aubergine', 'barley', 'beans', 'beetroot', 'butter', 'cabbage', 'cardamom', 'carrots', 'chickpeas', 'coriander', 'dumplings', 'fennel', 'feta', 'garlic', 'ginger', 'goulash', 'honey', 'kale',
  'leeks', 'lentils', 'mushrooms', 'noodles', 'oats', 'olives', 'parsley', 'pears', 'peppers', 'plums', 'polenta', 'quinoa', 'raisins', 'rye bread', 'saffron', 'sour cream', 'spinach', 'tahini', 'thyme', 'walnuts',
] as const;

export const SUBJECTS = [
  'acoustics', 'algebra', 'anatomy', 'astronomy', 'botany', 'calligraphy', 'carpentry', 'ceramics', 'chess', 'climate change', 'composting', 'drawing', 'economics', 'ethics', 'first aid', 'genetics', 'geology',
  'graph theory', 'hydrology', 'labour law', 'linguistics', 'logistics', 'machine safety', 'metallurgy', 'navigation', 'nutrition', 'optics', 'poetry', 'public speaking', 'robotics', 'sailing', 'seismology',
  'soil chemistry', 'statistics', 'tax law', 'typography', 'urban planning', 'weaving', 'wind energy', 'yoga',
] as const;

export const GREETINGS = ['Hello,', 'Hi there.', 'Good morning,', 'Hey,', ''] as const;

/** What an assistant asks before it goes on. */
export const QUESTIONS = ['Sure. What else do I need to know?', 'Of course. Which details shall I use?', 'Happy to help. Can you tell me more?', 'Understood. Anything else?', 'I need a few more details for that.'] as const;

export const ANSWERS = ['Yes, please.', 'yes', 'Go ahead.', 'That is right, thank you.', 'Please do.'] as const;

/** Sentences that ask for nothing. */
export const ASIDES = [
  'The last weeks have been quite busy here.', 'Thank you for your help with the matter before.', 'I hope you are well.', 'We talked about it in the meeting and everybody agreed.', 'I tried it myself and it did not work.',
  'The system was slow all morning.', 'My manager will look at it later.', 'There is no need to call me back.', 'It would be good to have this off the table.', 'I am writing from my phone, so excuse the mistakes.',
  'Nobody told me that this had changed.', 'The weather has been awful, by the way.', 'This came up again after the audit.',
] as const;

/** What descriptions say besides what the value is. */
export const REMARKS = [
  'Must not be empty.', 'If the user did not say it, ask first.', 'It is checked against our records before anything is done.', 'Older clients send it in another way, which still works.',
  'Shown on the confirmation that is sent afterwards.', 'Never make it up.', 'The manual has a chapter on it.', 'Needed for the statistics of the year.', 'Support staff can change it later on.',
] as const;
