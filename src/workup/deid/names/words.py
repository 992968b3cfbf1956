"""Words beside names: verbs of people, relations, words of forms. Lists only."""

from __future__ import annotations

from workup.text.wordlists import words_of

VERBS = words_of(
    "reports reported states stated denies denied presents presented is was has had will would says said lives "
    "lived works notes noted complains describes called calls feels felt remains agrees understands wants wishes "
    "requests requested asked asks tolerated underwent returns returned came arrived admits admitted endorses "
    "appears appeared did does takes took expressed verbalized saw seen signed wrote received joined needs told "
    "gave went left began met brought helps helped explained confirmed confirms answered replied thinks thought "
    "tolerates walked walks ambulated ambulates ate eats slept sleeps fell smokes drinks drove drives stayed stays "
    "speaks spoke prefers preferred declined declines refused refuses consented attended attends enjoys recalls "
    "remembers smiled cried worries hopes"
)
KIN = words_of(
    "wife husband spouse mother father son daughter sister brother aunt uncle niece nephew cousin grandmother "
    "grandfather grandson granddaughter partner friend neighbor neighbour mom dad caregiver guardian girlfriend "
    "boyfriend fiance fiancee roommate proxy parent self sibling stepmother stepfather stepson stepdaughter "
    "patient attending surgeon nurse pcp resident poa"
)
FORM_WORDS = words_of(
    "home work cell mobile office phone telephone name date time age sex none self same see call low new old no "
    "yes na other all doctor human sir madam colleague colleagues member parent parents team resources client "
    "well okay"
)
# Verbs after which "with" or "by" stands before people rather than before things.
MEETING = words_of(
    "discussed reviewed spoke spoken talked met shared accompanied counseled consulted visited agreed signed "
    "seen examined evaluated dictated prepared performed ordered referred cosigned verified administered closed "
    "arranged confirmed coordinated called filed written read done sent given taken driven brought note copy "
    "told cared raised followed interpreted transcribed reported collected witnessed supervised scheduled "
    "answered lives living stays home"
)
MONTHS = words_of("january february march april may june july august september october november december")
# Letters with points between them that are nobody's initials.
ABBREVIATIONS = words_of(
    "dob mrn ssn pcp hpi pmh psh ros bid tid qid prn poc am pm ed er or icu us usa uk iv im po pt ot gi gu ent "
    "eye hr rr bp npo dnr dni cop sob lmp edd ekg ecg mri cbc rbc wbc cns tpa ptt inr bun ama md rn do np pa phd "
    "llc aka dba qhs qod qam qpm hs ac pc sl im sq ad as au od os ou tbd eta asap fyi ie eg etal id ob gyn jr sr "
    "st mt ft dc ny nj nc sc la tv pa co inc ltd bc ad ce bce usc cfr vs mg ml"
)
TAKING = words_of(
    "took take takes taking tried started stopped continued prescribed ingested resumed using tablets doses dose "
    "trial remains currently maintained switched ingestion overdose treated"
)
DONE = words_of("done moved cancelled canceled rescheduled scheduled ordered booked planned held completed")
# Medicines sold under what is a given name too; most are oral contraceptives.
MEDICINES = words_of(
    "yasmin yaz heather camila errin jolivette ella allegra lyrica asa soma senna portia kariva apri mirena "
    "skyla kyleena liletta jaydess angeliq estelle ocella gianvi loryna syeda nikki vestura zarah jasmiel marlissa "
    "larissia levora lessina lutera aviane sronyx vienva tilia junel larin hailey aubra chateal ayuna afirmelle "
    "delyla falmina orsythia kurvelo altavera lillow ashlyna daysee camrese amethia jaimiess simpesse rivelsa "
    "jolessa setlakin introvale elinest cryselle reclipsen enskyce isibloom juleber emoquette cyred kalliga mili "
    "estarylla femynor nymyo vylibra briellyn philith vyfemla wera balziva dasetta alyacen pirmella nylia wymzya "
    "kaitlib layolis zovia kelnor blisovi lomedia mibelas taytulla melodetta charlotte finzala tydemy natazia "
    "slynd incassia deblitane lyza lyleq norlyda sharobel tulana aurovela joyeaux luizza minastrin tarina "
    "velivet caziant mircette viorele pimtrea volnea bekyree azurette simliya calan mareen "
    "darvon alesse dianette marvelon mercilon cilest gedarel millinette "
    "rigevidon cerazette cerelle nacrez feanolla aidulan zelleta zelly norgeston noriday lizinna lucette "
    "eloine daylette zoely qlaira"
)
