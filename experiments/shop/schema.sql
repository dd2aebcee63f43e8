-- A shop: customers order products. dbdyno fills the tables by the rules in experiments/shop.toml.
CREATE TABLE customer (
  id INT NOT NULL PRIMARY KEY,
  mail VARCHAR(60) NOT NULL,
  name VARCHAR(60) NOT NULL,
  joined DATE NOT NULL,
  UNIQUE KEY (mail)
);

CREATE TABLE product (
  id INT NOT NULL PRIMARY KEY,
  name VARCHAR(80) NOT NULL,
  price DECIMAL(8,2) NOT NULL,
  stock INT NOT NULL,
  description TEXT NOT NULL
);

CREATE TABLE orders (
  id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  customer INT NOT NULL,
  created DATETIME NOT NULL,
  state ENUM('new', 'paid', 'sent') NOT NULL,
  KEY (customer, created),
  FOREIGN KEY (customer) REFERENCES customer (id)
);

CREATE TABLE order_line (
  orders INT NOT NULL,
  line SMALLINT NOT NULL,
  product INT NOT NULL,
  quantity TINYINT NOT NULL,
  PRIMARY KEY (orders, line),
  FOREIGN KEY (orders) REFERENCES orders (id),
  FOREIGN KEY (product) REFERENCES product (id)
);
